import {
  isOnGrid,
  placesOverlap,
  placesOf,
  wallCells,
  type WallArrangement,
  type WallPlace,
} from '../../../../shared/domain/wall-layout.ts'
import { limits } from '../../../../shared/limits.ts'

/** Sizes of a new place, in cells, largest first. */
const newSizes = [4, 3, 2, 1]

/** Replaces a place; undefined if the new one exceeds the grid or overlaps another. */
export function withPlace(places: readonly WallPlace[], index: number, place: WallPlace): WallPlace[] | undefined {
  if (!isOnGrid(place) || places.some((other, at) => at !== index && placesOverlap(other, place))) return undefined
  return places.with(index, place)
}

/** Adds a place; undefined if there is no space. */
export function withNewPlace(places: readonly WallPlace[]): WallPlace[] | undefined {
  if (places.length >= limits.wallTiles) return undefined
  for (const size of newSizes) {
    for (let y = 0; y + size <= wallCells; y++) {
      for (let x = 0; x + size <= wallCells; x++) {
        const place = { x, y, w: size, h: size }
        if (!places.some((other) => placesOverlap(other, place))) return [...places, place]
      }
    }
  }
  return undefined
}

/** Returns the initial places of a free layout: the present ones, or equal ones for a number of tiles. */
export function initialPlaces(arrangement: WallArrangement, tiles: number): WallPlace[] {
  if (arrangement.places.length > 0) return arrangement.places
  const present = placesOf(arrangement)
  if (present !== undefined && present.length > 0) return [...present]
  const columns = [1, 2, 3, 4].find((count) => count * count >= tiles) ?? 6
  const size = wallCells / columns
  return Array.from({ length: columns * columns }, (_, index) => ({
    x: (index % columns) * size,
    y: Math.floor(index / columns) * size,
    w: size,
    h: size,
  }))
}
