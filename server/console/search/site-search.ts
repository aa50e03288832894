import { eventMatcher } from '../../../shared/console/event-matcher.ts'
import type { EventEntry, EventFilter } from '../../../shared/domain/events.ts'
import type { SharedEventLog } from '../../event-log/event-log.ts'
import type { PresenceView } from '../../nodes/pool/state/presence.ts'
import type { NodeUser } from '../../nodes/port/media-node-port.ts'
import type { PoolEventSource } from '../../nodes/port/pool-events.ts'
import { shownAddress } from '../../observe/redaction/address.ts'
import type { StoredCredential, StoredDevice, StoredNode, StoredRoom } from '../../store/records.ts'
import { changeOf } from '../../store/state.ts'
import type { Change, CollectionName, Store } from '../../store/store.ts'
import { TextIndex, type TextMatches } from './text-index.ts'

/** Kinds indexed from the store and the rooms. */
type IndexedKind = 'rooms' | 'people' | 'cameras' | 'nodes' | 'credentials'

interface SiteSearchOptions {
  store: Pick<Store, 'all' | 'onChange'>
  presence: Pick<PresenceView, 'usersOf'>
  events: PoolEventSource
}

/** Maximum time for which an indexing step blocks the event loop, in milliseconds. */
const sliceMs = 8

/**
 * Index of the site's texts, in memory. The first search builds the index, a few milliseconds at a time; later changes
 * update it. A room takes about half a kilobyte.
 */
export class SiteSearch {
  readonly #options: SiteSearchOptions
  readonly #indexes: Record<IndexedKind, TextIndex> = {
    rooms: new TextIndex(),
    people: new TextIndex(),
    cameras: new TextIndex(),
    nodes: new TextIndex(),
    credentials: new TextIndex(),
  }
  #built: Promise<void> | undefined
  #unsubscribe: (() => void)[] = []
  #closed = false

  constructor(options: SiteSearchOptions) {
    this.#options = options
  }

  /** Resolves when all texts are indexed. The first call starts the indexing. */
  ready(): Promise<void> {
    this.#built ??= this.#build()
    return this.#built
  }

  /** Returns the keys of matches, best first; `personOfKey` parses keys of people. Requires `ready`. */
  find(kind: IndexedKind, text: string, limit: number, accepts?: (key: string) => boolean): TextMatches {
    return this.#indexes[kind].find(text, limit, accepts)
  }

  close(): void {
    this.#closed = true
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#unsubscribe = []
  }

  async #build(): Promise<void> {
    const { store, events } = this.#options
    // Changes during the build are indexed at once. Indexing a record twice only replaces its text.
    this.#unsubscribe = [
      store.onChange(
        (changes) => {
          for (const change of changes) this.#follow(change)
        },
        ['rooms', 'devices', 'nodes', 'credentials'],
      ),
      events.subscribe((event) => {
        if (event.type === 'joined') this.#join(event.roomId, event.user)
        else if (event.type === 'left') this.#indexes.people.delete(keyOfPerson(event.roomId, event.user.userId))
      }),
    ]
    for (const collection of ['nodes', 'credentials', 'devices', 'rooms'] as const) await this.#indexAll(collection)
  }

  async #indexAll(collection: CollectionName): Promise<void> {
    const { store, presence } = this.#options
    let began = performance.now()
    for (const [key, record] of store.all(collection)) {
      this.#follow(changeOf(collection, key, record))
      if (collection === 'rooms') for (const user of presence.usersOf(key)) this.#join(key, user)
      if (performance.now() - began < sliceMs) continue
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#closed) return
      began = performance.now()
    }
  }

  #follow(change: Change): void {
    const { rooms, cameras, nodes, credentials } = this.#indexes
    const { collection, key, value } = change
    if (collection === 'rooms') keep(rooms, key, value && searchedTexts.room(value))
    else if (collection === 'devices') keep(cameras, key, value && searchedTexts.camera(value))
    else if (collection === 'nodes') keep(nodes, key, value && searchedTexts.node(value))
    else if (collection === 'credentials') keep(credentials, key, value && searchedTexts.credential(value))
  }

  #join(roomId: string, user: NodeUser): void {
    // Cameras are not indexed as people, but by their records.
    if (!user.device) this.#indexes.people.put(keyOfPerson(roomId, user.userId), searchedTexts.person(user))
  }
}

function keep(index: TextIndex, key: string, texts: readonly string[] | undefined): void {
  if (texts === undefined) index.delete(key)
  else index.put(key, texts)
}

const keyOfPerson = (roomId: string, userId: string): string => `${roomId}\n${userId}`

/** Parses room and user from a person's key. */
export function personOfKey(key: string): { roomId: string; userId: string } {
  const cut = key.indexOf('\n')
  return { roomId: key.slice(0, cut), userId: key.slice(cut + 1) }
}

/** Texts by which records are found; they contain no secrets. */
export const searchedTexts = {
  room: ({ topic, room_id, owner_id, tags = [] }: StoredRoom): string[] => [topic, room_id, owner_id, ...tags],
  person: ({ userName, userId }: NodeUser): string[] => [userName, userId],
  /** Texts for callers who may change cameras; they include the whole address. */
  camera: (device: StoredDevice): string[] => [...searchedTexts.cameraForViewers(device), device.userAddress],
  cameraForViewers: ({ userName, userId, userAddress, tags = [] }: StoredDevice): string[] => [
    userName,
    userId,
    shownAddress(userAddress),
    ...tags,
  ],
  node: ({ name, addresses }: StoredNode): string[] => [name, ...addresses.map(({ addr }) => addr)],
  credential: ({ label, access_key }: StoredCredential): string[] => [label, access_key],
  event: ({ kind, actor, subject, room, params }: EventEntry): string[] => [
    subject.name,
    subject.id,
    room,
    actor.name,
    actor.address,
    kind.replace('.', ' '),
    ...Object.values(params).map(String),
  ],
} as const

/** Maximum number of newest events searched; older events are only found on the events page. */
const maxEvents = 1_000
/** Number of entries per query of the log. */
const pageLength = 500

/** Search in the newest events of the log, in memory. */
export class RecentEvents {
  readonly #log: Pick<SharedEventLog, 'query' | 'onAdded'>
  readonly #index = new TextIndex()
  /** Events by number, in the order in which they were added. */
  readonly #entries = new Map<string, EventEntry>()
  #read: Promise<void> | undefined

  constructor(log: Pick<SharedEventLog, 'query' | 'onAdded'>) {
    this.#log = log
  }

  /**
   * Finds events whose texts contain every word. The first call reads the newest entries of the log.
   * @param words filter that also finds words in the displayed texts of events; undefined: searches only their values
   */
  async find(
    { text, words }: { text: string; words: EventFilter['words'] },
    limit: number,
  ): Promise<{ items: EventEntry[]; more: boolean }> {
    this.#read ??= this.#readNewest().catch((error: unknown) => {
      this.#read = undefined
      throw error
    })
    await this.#read
    if (words !== undefined) return this.#findRead(words, limit)
    const { keys, more } = this.#index.find(text, limit)
    return { items: keys.flatMap((key) => this.#entries.get(key) ?? []), more }
  }

  #findRead(words: EventFilter['words'], limit: number): { items: EventEntry[]; more: boolean } {
    const items = [...this.#entries.values()].toReversed().filter(eventMatcher({ words }))
    return { items: items.slice(0, limit), more: items.length > limit }
  }

  async #readNewest(): Promise<void> {
    /** Entries added while the log is being read. */
    const meanwhile: EventEntry[] = []
    let isRead = false
    const unsubscribe = this.#log.onAdded((entries) => {
      if (!isRead) meanwhile.push(...entries)
      else for (const entry of entries) this.#add(entry)
    })
    try {
      const newest = await this.#log.query({ limit: pageLength })
      for (const entry of [...newest.items.toReversed(), ...meanwhile]) this.#add(entry)
      isRead = true
    } catch (error) {
      unsubscribe()
      throw error
    }
  }

  #add(entry: EventEntry): void {
    const key = String(entry.seq)
    this.#entries.set(key, entry)
    this.#index.put(key, searchedTexts.event(entry))
    if (this.#entries.size <= maxEvents) return
    const [oldest = ''] = this.#entries.keys()
    this.#entries.delete(oldest)
    this.#index.delete(oldest)
  }
}
