from functools import partial


def process_docs(dataset):
    return dataset


text = partial(process_docs)
