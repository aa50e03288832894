import { placesOf, type WallArrangement, type WallItem, type WallPlace } from '../../../../shared/domain/wall-layout.ts'

export function itemKey({ kind, id }: WallItem): string {
  return `${kind} ${id}`
}

/** Returns whether two walls have the same tiles in the same order. */
export function sameItems(one: readonly WallItem[], other: readonly WallItem[]): boolean {
  const keys = (items: readonly WallItem[]): string => JSON.stringify(items.map(itemKey))
  return keys(one) === keys(other)
}

export function sameArrangement(one: WallArrangement, other: WallArrangement): boolean {
  const inOrder = (arrangement: WallArrangement): string => JSON.stringify(Object.entries(arrangement).sort())
  return inOrder(one) === inOrder(other)
}

/** Tiles of a page, and their places; undefined: equal tiles. */
interface PageTiles {
  items: readonly WallItem[]
  places: readonly WallPlace[] | undefined
}

/**
 * Returns the page with a tile in its largest place. The tile of that place moves to the free one, so that all others
 * stay. Equal tiles are arranged around the front tile.
 */
export function withFront({ items, places }: PageTiles, front: WallItem): PageTiles {
  const key = itemKey(front)
  if (items.every((item) => itemKey(item) === key)) return { items: [front], places: undefined }
  const around = places ?? placesOf({ layout: items.length <= 6 ? '1+5' : '1+7', places: [] }) ?? []
  const next = items.slice(0, around.length)
  const largest = Math.min(indexOfLargest(around), next.length)
  const from = next.findIndex((item) => itemKey(item) === key)
  const displaced = next[largest]
  if (displaced !== undefined && from === -1) next.splice(next.length < around.length ? next.length : -1, 1, displaced)
  else if (displaced !== undefined) next[from] = displaced
  next[largest] = front
  return { items: next, places: around }
}

function indexOfLargest(places: readonly WallPlace[]): number {
  const areas = places.map(({ w, h }) => w * h)
  return areas.indexOf(Math.max(...areas))
}
