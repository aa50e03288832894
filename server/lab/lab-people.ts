import { RefusalError } from '../../shared/domain/outcome.ts'
import type { TestPeopleView } from '../../shared/domain/test-people.ts'
import { tokenParameter } from '../../shared/media/room-page.ts'
import {
  roomIndexOf,
  type TestPeopleSpec,
  type TestPeopleState,
  testPersonId,
  testPersonName,
  testRoomLimits,
} from '../../shared/media/test-people.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { askLabNode, type LabNodeDependencies } from '../nodes/embedded/lab-node.ts'
import type { TestEntry, WantedTestEntry } from '../nodes/embedded/embedded-media-options.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { Store } from '../store/store.ts'

interface LabPeopleDependencies extends LabNodeDependencies {
  store: Store
  rooms: Pick<Rooms, 'create'>
  links: Pick<JoinLinks, 'make'>
}

/** Lifetime of a join link, and its remaining lifetime below which it is not used again, in milliseconds. */
const linkMs = 3_600_000
const remainingMs = 600_000
const lock = 'test_people'

interface KnownLink {
  group: string
  roomId: string
  token: string
  expiresAt: number
}

/** The groups of test people of the lab. They are stored, and run in the program of an embedded node. */
export class LabPeople {
  readonly #dependencies: LabPeopleDependencies
  /** Links by user id: people who come and go use theirs again. */
  readonly #links = new Map<string, KnownLink>()
  /** Rooms that are being made, by id. */
  readonly #making = new Map<string, Promise<unknown>>()

  constructor(dependencies: LabPeopleDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the groups with their current state, by name. */
  async list(): Promise<TestPeopleView[]> {
    const specs = [...this.#dependencies.store.all('test_people').values()]
    if (specs.length === 0) return []
    const states = await this.#states()
    return specs
      .toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }))
      .map((spec) => viewOf(spec, states?.get(spec.name)))
  }

  /** Stores a group, whose people begin to arrive. A group of the same name is replaced, and its people leave. */
  async put(spec: TestPeopleSpec): Promise<TestPeopleView> {
    const { store } = this.#dependencies
    await store.transact([lock], (transaction) => transaction.put('test_people', spec.name, spec))
    this.#forgetLinks(({ group }) => group === spec.name)
    return viewOf(spec, (await this.#states())?.get(spec.name))
  }

  /** Removes a group. Its people leave; its rooms stay. @throws RefusalError if there is no such group */
  async remove(name: string): Promise<void> {
    const { store } = this.#dependencies
    await store.transact([lock], (transaction) => {
      if (store.get('test_people', name) === undefined) throw new RefusalError(refusal('testPeopleNotFound'))
      transaction.delete('test_people', name)
    })
    this.#forgetLinks(({ group }) => group === name)
  }

  /** Makes a join link for a person of a group, and its room if it does not exist. Never rejects. */
  async entryOf({ group, number }: WantedTestEntry): Promise<TestEntry> {
    const spec = this.#dependencies.store.get('test_people', group)
    if (spec === undefined || number > spec.people)
      return { room_id: '', token: '', problem: 'the site has no such test person' }
    try {
      const rooms = roomsOf(spec)
      const index = roomIndexOf(number, rooms.length)
      const roomId = rooms[index] ?? ''
      if (spec.room_ids.length === 0) await this.#ensureRoom(roomId, `${spec.name} ${index + 1}`)
      return { room_id: roomId, token: await this.#token(roomId, group, number), problem: '' }
    } catch (error) {
      return { room_id: '', token: '', problem: error instanceof Error ? error.message : String(error) }
    }
  }

  async #token(roomId: string, group: string, number: number): Promise<string> {
    const userId = testPersonId(group, number)
    const known = this.#links.get(userId)
    if (known?.roomId === roomId && known.expiresAt - Date.now() > remainingMs) return known.token
    const { url, expires_at: expiresAt } = await this.#dependencies.links.make({
      ...{ roomId, userId, userName: testPersonName(number) },
      ...{ role: 'member', lifeMs: linkMs, maker: { type: 'site' } },
    })
    const token = URL.parse(url)?.hash.replace(`#${tokenParameter}=`, '') ?? ''
    this.#links.set(userId, { group, roomId, token, expiresAt })
    return token
  }

  /** @throws ApiError as `Rooms.create` does */
  async #ensureRoom(roomId: string, topic: string): Promise<void> {
    const { store, rooms } = this.#dependencies
    if (store.get('rooms', roomId) !== undefined) return
    // Many people arrive at once.
    const making =
      this.#making.get(roomId) ??
      rooms.create({ topic, owner_id: '', room_mode: 1, room_extend_id: roomId, ...testRoomLimits }, '')
    this.#making.set(roomId, making)
    try {
      await making
      // Links to a deleted room of the same id are invalid.
      this.#forgetLinks((link) => link.roomId === roomId)
    } finally {
      this.#making.delete(roomId)
    }
  }

  #forgetLinks(isOutdated: (link: KnownLink) => boolean): void {
    for (const [userId, link] of this.#links) if (isOutdated(link)) this.#links.delete(userId)
  }

  /** Returns the state of each group that the program of a node runs; undefined if no program answers. */
  async #states(): Promise<Map<string, TestPeopleState> | undefined> {
    const answer = await askLabNode(this.#dependencies, (client, signal) => client.request('test_people', {}, signal))
    return answer && new Map(answer.groups.map((state) => [state.name, state]))
  }
}

/** Returns the ids of the rooms that the people of a group join. */
function roomsOf({ name, rooms, room_ids }: TestPeopleSpec): readonly string[] {
  return room_ids.length > 0
    ? room_ids
    : Array.from({ length: rooms }, (_, index) => `test-people-${name}-${index + 1}`)
}

function viewOf(spec: TestPeopleSpec, state: TestPeopleState | undefined): TestPeopleView {
  const counts = { away: spec.people, joining: 0, waiting: 0, present: 0, removed: 0, refused: 0 }
  return {
    ...{ ...spec, counts, sent: 0, received: 0, lost: 0, problem: '', ...state },
    ...{ in_rooms: [...roomsOf(spec)], runs: state !== undefined },
  }
}
