import type { Store } from '../../store/store.ts'

/**
 * Returns the name of the embedded node whose program runs the test cameras and test people; undefined: no embedded node
 * is enabled.
 */
export function labNode(store: Pick<Store, 'all'>): string | undefined {
  const [first] = [...store.all('nodes').values()]
    .filter(({ kind, enabled }) => kind === 'embedded' && enabled)
    .toSorted((one, other) => one.port - other.port)
  return first?.name
}
