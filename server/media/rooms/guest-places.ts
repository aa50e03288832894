/** Limits for guests in a room. A guest has neither a personal link nor proof of being a host. */

/** Size below which a room reserves no places. */
const smallRoom = 10
/** Minimum of the limit of guests per link and address, in rooms of at least `smallRoom` places. */
const minShare = 9
/** One in `keptOf` places is reserved for hosts, cameras and people with a personal link, at most `maxKept` places. */
const keptOf = 10
const maxKept = 10

/**
 * Returns the maximum number of guests, in total and per link.
 * @param places maximum number of participants of the room
 */
function guestLimits(places: number): { all: number; ofOneLink: number } {
  if (places <= 2) return { all: places, ofOneLink: places }
  if (places < smallRoom) return { all: places, ofOneLink: places - 1 }
  const kept = Math.min(maxKept, Math.floor(places / keptOf))
  return { all: places - kept, ofOneLink: Math.max(minShare, Math.ceil(places / 2)) }
}

export class GuestPlaces {
  readonly #counts = new Map<string, number>()
  #all = 0

  /** Returns whether one more guest may enter. @param places maximum number of participants of the room */
  hasRoom(guest: string, places: number): boolean {
    const { all, ofOneLink } = guestLimits(places)
    return this.#all < all && (this.#counts.get(guest) ?? 0) < ofOneLink
  }

  /** @param guest undefined: not a guest */
  take(guest: string | undefined): void {
    if (guest === undefined) return
    this.#all += 1
    this.#counts.set(guest, (this.#counts.get(guest) ?? 0) + 1)
  }

  release(guest: string | undefined): void {
    const count = guest === undefined ? 0 : (this.#counts.get(guest) ?? 0)
    if (guest === undefined || count === 0) return
    this.#all -= 1
    if (count === 1) this.#counts.delete(guest)
    else this.#counts.set(guest, count - 1)
  }
}
