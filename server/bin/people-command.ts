import { randomBytes } from 'node:crypto'
import { Agent } from 'node:https'
import ndc from 'node-datachannel'
import { unlessAborted } from '../../shared/abort.ts'
import { createRoom, deleteRoom, joinUrl } from '../../shared/media-operations.ts'
import {
  arrivalForm,
  roomIndexOf,
  testPeopleSpecSchema,
  type TestPeopleSpec,
  testPersonId,
  testPersonName,
  testRoomLimits,
} from '../../shared/media/test-people.ts'
import { roomPagePath } from '../../shared/media/room-page.ts'
import { sleep } from '../../shared/sleep.ts'
import { ApiSession } from '../lab/client/api-session.ts'
import { httpCall, NoReplyError } from '../lab/client/api-call.ts'
import { readTarget, type Target, targetFlags } from '../lab/client/target.ts'
import { CommandError, type ExitCode, exitCodes, readCommandFlags, type RunCommand } from '../lab/command.ts'
import { PeopleGroup } from '../media/test-people/test-people.ts'
import type { NodeTrust } from '../media/test-people/node-requests.ts'
import type { PersonEntry } from '../media/test-people/person-session.ts'

/** Text of `roomdesk people --help`. */
export const help = [
  'Usage: roomdesk people --media URL --access-key K --secret-key S [flags]',
  '',
  'Lets test people with real media join rooms of a Roomdesk site, until SIGTERM.',
  '',
  '  --people N          number of people, 1 to 200; default: 4',
  '  --rooms N           number of rooms to make, which are deleted in the end; default: 1',
  '  --room ID           joins this room instead; may be repeated',
  `  --arrive PATTERN    ${arrivalForm};`,
  '                      default: at-once',
  '  --send MEDIA        clip (default), sound or nothing',
  '  --simulcast         sends the picture in two sizes',
  '  --watch N           streams of others that each person watches, 0 to 25; default: 4',
  '  --talk WHO          turns (default), all or nobody',
  '  --loss PERCENT      share of lost media packets in each direction, 0 to 50; default: 0',
  '  --seed N            seed of arrivals and losses; default: 1',
  '  --for SECONDS       ends after this time',
  '  --ca FILE           PEM file of the authority that signed the certificates of the server',
  '  --secret-key S      the secret; ROOMDESK_SECRET_KEY keeps it out of the list of processes',
].join('\n')

/** Lifetime of a join link, in seconds: long enough for a busy node. */
const linkSeconds = 600
/** Time for which the node of a join link is used for others, in milliseconds. */
const nodeMs = 5_000
/** Maximum time to delete the rooms in the end, in milliseconds. */
const cleanUpMs = 5_000
const numbers = ['people', 'rooms', 'watch', 'loss', 'seed'] as const

interface PeopleOptions {
  spec: TestPeopleSpec
  target: Target
  /** Time until the end, in milliseconds; undefined: until SIGTERM. */
  forMs: number | undefined
}

/** The command `roomdesk people`. */
export const people: RunCommand = async ({ arguments: given, environment, signal, print }) => {
  const options = await readOptions(given, environment)
  ndc.initLogger('Fatal', () => {})
  try {
    return await join(options, signal, print)
  } catch (error) {
    if (signal.aborted) return exitCodes.noVerdict
    throw error
  }
}

/** Lets the people join until the time has passed or the signal aborts. Resolves to the exit code. @throws CommandError */
async function join(
  { spec, target, forMs }: PeopleOptions,
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<ExitCode> {
  const session = await ApiSession.open(target, signal)
  const limits = Object.fromEntries(Object.entries(testRoomLimits).map(([name, value]) => [name, String(value)]))
  const made: string[] = []
  const arrived = new Set<number>()
  let group: PeopleGroup | undefined
  try {
    for (let number = 1; spec.room_ids.length === 0 && number <= spec.rooms; number++) {
      const topic = `Test people ${spec.name}-${number}`
      const params = { topic, owner_id: 'roomdesk-people', room_mode: '1', ...limits }
      const { room_id } = await session.call(createRoom, params, signal)
      made.push(String(room_id))
    }
    const inRooms = { ...spec, room_ids: made.length === 0 ? spec.room_ids : made }
    const entries = new Entries(session, target, inRooms, signal)
    group = new PeopleGroup(inRooms, {
      enter: (number) => entries.of(number),
      onChange: ({ number, state, roomId }) => {
        if (state === 'present') arrived.add(number)
        if (state !== 'joining') print(`${testPersonId(spec.name, number)} ${state} ${roomId}`.trim())
      },
    })
    // Resolves only with a time; the signal ends it otherwise.
    const end = forMs === undefined ? new Promise<never>(() => {}) : sleep(forMs, { signal })
    await unlessAborted(end, signal).catch(() => {
      // SIGTERM is the usual end.
    })
  } finally {
    const state = group?.state
    await group?.close()
    if (state !== undefined) {
      const { sent, received, lost, problem } = state
      print(
        `${arrived.size} of ${spec.people} people joined; packets: ${sent} sent, ${received} received, ${lost} lost`,
      )
      if (problem !== '') print(`latest problem: ${problem}`)
    }
    const left = await deleteRooms(session, made)
    if (left.length > 0) print(`rooms that were not deleted: ${left.join(', ')}`)
  }
  return arrived.size === spec.people ? exitCodes.fine : exitCodes.found
}

/** Deletes rooms. Resolves to those that may be left. */
async function deleteRooms(session: ApiSession, rooms: readonly string[]): Promise<string[]> {
  const signal = AbortSignal.timeout(cleanUpMs)
  const deletions = await Promise.allSettled(rooms.map((room_id) => session.call(deleteRoom, { room_id }, signal)))
  return rooms.filter((_, index) => deletions[index]?.status === 'rejected')
}

/** Entries of the people of a group: join links, and the node to which links lead. */
class Entries {
  readonly #session: ApiSession
  readonly #target: Target
  readonly #spec: TestPeopleSpec
  readonly #signal: AbortSignal
  readonly #trust: NodeTrust
  /** Node to which links lead, and the end of its use: many people arrive at once, and servers limit such requests. */
  #node: { url: Promise<URL>; until: number } | undefined

  constructor(session: ApiSession, target: Target, spec: TestPeopleSpec, signal: AbortSignal) {
    this.#session = session
    this.#target = target
    this.#spec = spec
    this.#signal = signal
    this.#trust = target.authorities === undefined ? undefined : new Agent({ ca: target.authorities })
  }

  /** Makes a join link for a person. @throws CommandError */
  async of(number: number): Promise<PersonEntry> {
    const { name, room_ids } = this.#spec
    const roomId = room_ids[roomIndexOf(number, room_ids.length)] ?? ''
    const person = { user_id: testPersonId(name, number), user_name: testPersonName(number) }
    const params = { room_id: roomId, ...person, ttl: String(linkSeconds) }
    const link = await this.#session.call(joinUrl, params, this.#signal)
    const url = URL.parse(String(link.url))
    const token = /^#token=(.+)$/.exec(url?.hash ?? '')?.[1]
    if (url === null || token === undefined) throw new CommandError(`${this.#target.media.href} returned no join link.`)
    if (this.#node === undefined || performance.now() > this.#node.until)
      this.#node = { url: this.#nodeOf(url), until: performance.now() + nodeMs }
    return { node: await this.#node.url, roomId, token, trust: this.#trust }
  }

  /** Follows the redirect of a join link to the page on a node. @throws CommandError */
  async #nodeOf(link: URL): Promise<URL> {
    const base = new URL(link.origin)
    const request = { base, method: 'GET', target: `${link.pathname}${link.search}`, headers: {}, body: undefined }
    const { authorities } = this.#target
    try {
      const { headers } = await httpCall({ ...request, authorities, deadlineMs: undefined }, this.#signal)
      const page = URL.parse(headers.location ?? '', link.href)
      if (page?.pathname.includes(roomPagePath) !== true)
        throw new CommandError(`${link.origin} does not lead to a room page.`)
      const [prefix = ''] = page.pathname.split(roomPagePath, 1)
      return new URL(`${prefix}/`, page)
    } catch (error) {
      if (!(error instanceof NoReplyError)) throw error
      throw new CommandError(`The server ${link.origin} ${error.message}.`, { cause: error })
    }
  }
}

/** Reads the flags. @throws CommandError */
async function readOptions(given: readonly string[], environment: NodeJS.ProcessEnv): Promise<PeopleOptions> {
  const named = ['arrive', 'send', 'talk', 'for', 'media', 'access-key', 'secret-key', 'ca'] as const
  const flags = readCommandFlags(given, [...named, ...numbers], { repeated: ['room'], switches: ['simulcast'] })
  const { arrive, send, talk, simulcast, room: room_ids } = flags
  const counts = Object.fromEntries(
    numbers.flatMap((name) => (flags[name] === undefined ? [] : [[name, numberOf(flags[name])]])),
  )
  const chosen = { arrive, send, talk, simulcast, room_ids, ...counts }
  const wanted = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined))
  const parsed = testPeopleSpecSchema.safeParse({ ...wanted, name: randomBytes(3).toString('hex') })
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path: [name], message }) => {
      return `--${name === 'room_ids' ? 'room' : String(name)}: ${message}.`
    })
    throw new CommandError(lines.join(' '))
  }
  const target = Object.fromEntries(targetFlags.map((name) => [name, name === 'device' ? flags.media : flags[name]]))
  const seconds = flags.for === undefined ? undefined : numberOf(flags.for)
  if (seconds !== undefined && !(typeof seconds === 'number' && seconds > 0))
    throw new CommandError('--for must be a number of seconds above 0.')
  const forMs = seconds === undefined ? undefined : seconds * 1_000
  return { spec: parsed.data, target: await readTarget(target, environment), forMs }
}

/** Returns the number of a flag, or its text, about which the schema complains. */
function numberOf(text: string): number | string {
  return /^\d{1,10}(?:\.\d{1,3})?$/.test(text) ? Number(text) : text
}
