import { tagKey } from '../../shared/tags.ts'
import { isSecondary } from '../nodes/pool/state/room-nodes.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { RoomStatus } from '../../shared/domain/rooms.ts'

/** Filter of rooms; an empty search or list matches all rooms. */
export interface RoomFilter {
  search: string
  status: readonly RoomStatus[]
  node?: string | undefined
  /** Whether to return only rooms with a schedule. */
  scheduled?: boolean | undefined
  /** Tags that a room must have, all of them; undefined or empty: no condition. */
  tags?: readonly string[] | undefined
  /** Rooms to which the result is restricted; undefined: no restriction. */
  room_ids?: readonly string[] | undefined
  /** Whether to return only rooms without tags. */
  untagged?: boolean | undefined
}

/** Query of one page of matching rooms. */
export interface RoomQuery extends RoomFilter {
  sort: 'id' | 'topic' | 'people' | 'users' | 'room_id'
  descending: boolean
  offset: number
  limit: number
}

/** Whether a filter may exclude rooms. */
export function isNarrowed({ search, status, node, scheduled, tags = [], room_ids, untagged }: RoomFilter): boolean {
  const isPicked = room_ids !== undefined || tags.length > 0 || untagged === true
  return search.trim() !== '' || status.length > 0 || node !== undefined || isPicked || scheduled === true
}

/** Upper bound of positions in `RoomList`: limits.rooms plus the positions of deleted rooms. */
const positionsAtMost = 2 ** 32

/** Facts about a room that are not in its record. All O(1). */
export interface RoomFacts {
  status(room: StoredRoom): RoomStatus
  users(roomId: string): number
  people(roomId: string): number
  /** Returns the room_ids of the rooms with all of these tags. */
  tagged(tags: readonly string[]): ReadonlySet<string>
}

/**
 * All rooms in order of their numbers, in arrays. A page of the newest rooms is found without iterating over all rooms.
 * Filters and sorts iterate over an array, which is faster than iterating over a map. Built at the first query, then
 * updated by changes of the store.
 */
export class RoomList {
  readonly #store: Pick<Store, 'all'>
  readonly #facts: RoomFacts
  /**
   * Room numbers, ascending; parallel to `#rooms` and `#texts`. A deleted room leaves a hole in `#rooms`; the arrays
   * are compacted when there are many holes.
   */
  #numbers: number[] = []
  #rooms: (StoredRoom | undefined)[] = []
  /**
   * Search texts, created at first use. Each starts with the topic, so the texts are also used for sorting by topic.
   */
  #texts: (string | undefined)[] = []
  #holes = 0
  /** Number of each existing room, by room_id; undefined: the list is not built yet. */
  #numberOf: Map<string, number> | undefined
  readonly #unsubscribe: () => void

  constructor(store: Pick<Store, 'all' | 'onChange'>, facts: RoomFacts) {
    this.#store = store
    this.#facts = facts
    this.#unsubscribe = store.onChange(
      (changes) => {
        if (this.#numberOf === undefined) return
        for (const change of changes) if (change.collection === 'rooms') this.#follow(change.key, change.value)
      },
      ['rooms'],
    )
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Returns one page of the matching rooms, and the number of matches. */
  select(query: RoomQuery): { total: number; rooms: StoredRoom[] } {
    this.#build()
    if (!isNarrowed(query) && query.sort === 'id') {
      return { total: this.#rooms.length - this.#holes, rooms: this.#page(query) }
    }
    const positions = this.#matching(query)
    const total = positions.length
    return { total, rooms: this.#chosen(positions, query).flatMap((position) => this.#rooms[position] ?? []) }
  }

  /** Counts the matching rooms by tag. The keys of `counts` are results of `tagKey`. */
  countTags(filter: RoomFilter): { total: number; untagged: number; counts: ReadonlyMap<string, number> } {
    this.#build()
    const positions = this.#matching(filter)
    const byName = new Map<string, number>()
    let untagged = 0
    for (const at of positions) {
      const tags = this.#rooms[at]?.tags ?? []
      if (tags.length === 0) untagged += 1
      for (const tag of tags) byName.set(tag, (byName.get(tag) ?? 0) + 1)
    }
    // Few spellings exist, so each key is computed once instead of once per room.
    const counts = new Map<string, number>()
    for (const [tag, count] of byName) counts.set(tagKey(tag), (counts.get(tagKey(tag)) ?? 0) + count)
    return { total: positions.length, untagged, counts }
  }

  /** Returns the positions of the rooms on the requested page. */
  #chosen(positions: number[], query: RoomQuery): number[] {
    if (query.sort === 'id') return pageInOrder(positions, query)
    if (query.sort === 'users' || query.sort === 'people')
      return pageInOrder(this.#byCount(positions, query.sort), query)
    return pageOf(positions, this.#textOrder(query), query.offset, query.limit)
  }

  /**
   * Sorts positions by count, lowest first. Sorts numbers that contain the count in their upper part and the position
   * in their lower part, which is faster than a comparison function.
   */
  #byCount(positions: readonly number[], count: 'users' | 'people'): number[] {
    const keys = new Float64Array(positions.length)
    for (const [index, at] of positions.entries()) {
      const room = this.#rooms[at]
      keys[index] = (room === undefined ? 0 : this.#facts[count](room.room_id)) * positionsAtMost + at
    }
    const sorted: number[] = []
    for (const key of keys.sort()) sorted.push(key % positionsAtMost)
    return sorted
  }

  /** Returns one page of all rooms in order of their numbers. */
  #page({ descending, offset, limit }: RoomQuery): StoredRoom[] {
    const rooms: StoredRoom[] = []
    const step = descending ? -1 : 1
    let skip = offset
    for (let at = descending ? this.#rooms.length - 1 : 0; rooms.length < limit; at += step) {
      if (at < 0 || at >= this.#rooms.length) break
      const room = this.#rooms[at]
      if (room === undefined) continue
      if (skip > 0) skip -= 1
      else rooms.push(room)
    }
    return rooms
  }

  #matching(query: RoomFilter): number[] {
    const search = query.search.trim().toLowerCase()
    const positions: number[] = []
    const statuses = new Set(query.status)
    const { tags = [] } = query
    const tagged = tags.length === 0 ? undefined : this.#facts.tagged(tags)
    const named = this.#namedPositions(query.room_ids, tagged)
    const end = named?.length ?? this.#rooms.length
    for (let index = 0; index < end; index++) {
      const at = named?.[index] ?? index
      const room = this.#rooms[at]
      if (room === undefined) continue
      if (query.node !== undefined && room.node !== query.node && !isSecondary(room, query.node)) continue
      if (tagged?.has(room.room_id) === false) continue
      if (query.untagged && (room.tags?.length ?? 0) > 0) continue
      if (query.scheduled && room.schedule === undefined) continue
      if (statuses.size > 0 && !statuses.has(this.#facts.status(room))) continue
      if (search !== '' && !this.#text(at, room).includes(search)) continue
      positions.push(at)
    }
    return positions
  }

  /**
   * Returns positions that include all matching rooms; undefined: all positions. If many rooms have the tags, looking
   * up each would take longer than iterating over all rooms.
   */
  #namedPositions(
    roomIds: readonly string[] | undefined,
    tagged: ReadonlySet<string> | undefined,
  ): number[] | undefined {
    if (roomIds !== undefined) return this.#positionsOf(roomIds)
    return tagged === undefined || tagged.size > this.#rooms.length / 16 ? undefined : this.#positionsOf(tagged)
  }

  /** Returns the positions of existing rooms, ascending. */
  #positionsOf(roomIds: Iterable<string>): number[] {
    const numbers = [...new Set(roomIds)].flatMap((roomId) => this.#numberOf?.get(roomId) ?? [])
    return numbers.map((number) => this.#place(number)).sort((one, other) => one - other)
  }

  /** Compares positions by topic or room_id; equal rooms are ordered by their numbers. */
  #textOrder({ sort, descending }: RoomQuery): (one: number, other: number) => number {
    const sign = descending ? -1 : 1
    const keys = this.#rooms.map((room, at) => {
      if (room === undefined) return ''
      return sort === 'topic' ? this.#text(at, room) : room.room_id
    })
    return (one, other) => {
      const [a = '', b = ''] = [keys[one], keys[other]]
      if (a === b) return sign * (one - other)
      return a < b ? -sign : sign
    }
  }

  #text(at: number, room: StoredRoom): string {
    let text = this.#texts[at]
    if (text === undefined) {
      text = `${room.topic}\n${room.room_id}\n${room.owner_id}${tagLines(room)}`.toLowerCase()
      this.#texts[at] = text
    }
    return text
  }

  #build(): void {
    if (this.#numberOf !== undefined) return
    const rooms = [...this.#store.all('rooms').values()].sort((one, other) => one.id - other.id)
    this.#rooms = rooms
    this.#numbers = rooms.map((room) => room.id)
    this.#texts = rooms.map(() => undefined)
    this.#numberOf = new Map(rooms.map((room) => [room.room_id, room.id]))
    this.#holes = 0
  }

  #follow(roomId: string, room: StoredRoom | undefined): void {
    const before = this.#numberOf?.get(roomId)
    if (before !== undefined && before !== room?.id) this.#remove(roomId, before)
    if (room === undefined) return
    const at = this.#place(room.id)
    if (this.#numbers[at] === room.id) {
      // A restored room fills the hole that it left.
      if (this.#rooms[at] === undefined) this.#holes -= 1
      this.#numberOf?.set(roomId, room.id)
      this.#rooms[at] = room
      this.#texts[at] = undefined
      return
    }
    // Numbers increase, so almost every room is appended.
    this.#numbers.splice(at, 0, room.id)
    this.#rooms.splice(at, 0, room)
    this.#texts.splice(at, 0, undefined)
    this.#numberOf?.set(roomId, room.id)
  }

  #remove(roomId: string, number: number): void {
    const at = this.#place(number)
    this.#rooms[at] = undefined
    this.#texts[at] = undefined
    this.#numberOf?.delete(roomId)
    this.#holes += 1
    if (this.#holes > 1_000 && this.#holes > this.#rooms.length / 4) this.#closeHoles()
  }

  #closeHoles(): void {
    const kept = this.#rooms.flatMap((room, at) => (room === undefined ? [] : [at]))
    this.#numbers = kept.map((at) => this.#numbers[at] ?? 0)
    this.#texts = kept.map((at) => this.#texts[at])
    this.#rooms = kept.map((at) => this.#rooms[at])
    this.#holes = 0
  }

  /** Returns the first index whose number is not less than `number`. */
  #place(number: number): number {
    let low = 0
    let high = this.#numbers.length
    if (high > 0 && number > (this.#numbers[high - 1] ?? 0)) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#numbers[middle] ?? 0) < number) low = middle + 1
      else high = middle
    }
    return low
  }
}

const tagLines = ({ tags = [] }: StoredRoom): string => tags.map((tag) => `\n${tag}`).join('')

function pageInOrder(positions: readonly number[], { descending, offset, limit }: RoomQuery): number[] {
  if (!descending) return positions.slice(offset, offset + limit)
  const end = Math.max(0, positions.length - offset)
  return positions.slice(Math.max(0, end - limit), end).reverse()
}

/**
 * Returns the items that a full sort would place at `offset` to `offset + limit`, in order. Does not sort the other
 * items: O(n) expected (quickselect), plus the sort of the page. Reorders `items`. `compare` must never return 0 for
 * two different items.
 */
export function pageOf<T>(items: T[], compare: (one: T, other: T) => number, offset: number, limit: number): T[] {
  const end = Math.min(items.length, offset + limit)
  if (offset >= end) return []
  if (offset > 0) partition(items, compare, offset, 0, items.length - 1)
  if (end < items.length) partition(items, compare, end, offset, items.length - 1)
  return items.slice(offset, end).sort(compare)
}

/** Reorders items from `low` to `high` so that no item before index `k` sorts after an item at or after `k`. */
function partition<T>(
  items: T[],
  compare: (one: T, other: T) => number,
  k: number,
  lowest: number,
  highest: number,
): void {
  let low = lowest
  let high = highest
  while (low < high) {
    // A random pivot makes quadratic time unlikely for any input.
    const pivot = at(items, low + Math.floor(Math.random() * (high - low + 1)))
    let left = low
    let right = high
    while (left <= right) {
      while (compare(at(items, left), pivot) < 0) left++
      while (compare(at(items, right), pivot) > 0) right--
      if (left > right) break
      const swapped = at(items, left)
      items[left++] = at(items, right)
      items[right--] = swapped
    }
    if (k <= right) high = right
    else if (k >= left) low = left
    else return
  }
}

/** Returns an item. All indices in this module are within the array. */
function at<T>(items: readonly T[], index: number): T {
  return items[index] as T
}
