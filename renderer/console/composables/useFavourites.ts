import { shallowRef } from 'vue'
import { limits } from '../../../shared/limits.ts'
import { browserStorage } from '../../kit/storage.ts'

export type FavouriteKind = 'rooms' | 'cameras'

const prefix = 'roomdesk.favourites.'
const chosen = { rooms: shallowRef(stored('rooms')), cameras: shallowRef(stored('cameras')) }
// Another tab of this browser has changed the favourites.
window.addEventListener('storage', ({ key }) => {
  if (key === `${prefix}rooms`) chosen.rooms.value = stored('rooms')
  else if (key === `${prefix}cameras`) chosen.cameras.value = stored('cameras')
})

/** Ids of this browser's favourites. Beyond the limit, the oldest one is removed. */
export function useFavourites(kind: FavouriteKind) {
  const ids = chosen[kind]

  function toggle(id: string): void {
    const next = new Set(ids.value)
    if (!next.delete(id)) next.add(id)
    const kept = [...next].slice(-limits.favourites)
    ids.value = new Set(kept)
    browserStorage.set(prefix + kind, JSON.stringify(kept))
  }

  return { ids, toggle }
}

function stored(kind: FavouriteKind): ReadonlySet<string> {
  const value = browserStorage.json(prefix + kind)
  if (!Array.isArray(value)) return new Set()
  return new Set(value.filter((id) => typeof id === 'string' && id !== '').slice(-limits.favourites))
}
