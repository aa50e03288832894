import { isDeepStrictEqual } from 'node:util'
import { changeOf, collectionNames, type State } from './state.ts'
import type { Change, CollectionName } from './store.ts'

/** Computes the changes that turn one state into the other, in no particular order. */
export function changesBetween(from: State, to: State): Change[] {
  return collectionNames.flatMap((collection) => changesOf(collection, from, to))
}

function changesOf(collection: CollectionName, from: State, to: State): Change[] {
  const [before, after]: ReadonlyMap<string, object>[] = [from[collection], to[collection]]
  const changes: Change[] = []
  if (before === undefined || after === undefined) return changes
  for (const key of before.keys()) if (!after.has(key)) changes.push(changeOf(collection, key, undefined))
  for (const [key, value] of to[collection])
    if (!isDeepStrictEqual(before.get(key), value)) changes.push(changeOf(collection, key, value))
  return changes
}
