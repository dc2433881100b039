def embedding(ids, table):
    return table[ids]
