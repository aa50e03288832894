/** Rooms of people on the embedded media node: `npm run bench -- many`, or `… many:25` for the room of 25. Users are libdatachannel peers, in processes of their own, with empty pictures. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import type { Publishing } from '../support/media/whip-peer.ts'
import { viewersNice } from './crowd.ts'
import { processorMs, residentMegabytes } from './process-figures.ts'
import { report } from './table.ts'

/** Stream of each user. */
export type Picture = Pick<Publishing, 'pictures' | 'packets' | 'bytes'>

/** A user with a link. */
export interface Guest {
  userId: string
  token: string
}

/** Request to a process of users. */
export interface Asked {
  enter?: Guest[]
  /** Lets these sessions publish; this many of them talk. */
  publish?: { sessions: string[]; talking: number }
  /** Lets everybody in it watch these, except themselves. */
  watch?: string[]
  /** Displays this many of them; of the others only speakers are watched, up to a total, for their sound. Default: displays all. */
  seen?: { shown: number; speaking: number }
}

/** Answer of the process. */
export interface Counted {
  /** Sessions of its users in the room. */
  sessions: string[]
  viewers: number
  /** Expected number of viewers. */
  wanted: number
  /** Failed attempts to watch that were repeated. */
  again: number
  /** Packets of sound and picture that its viewers received, and those they missed. */
  sounds: number
  pictures: number
  lost: number
}

/** 360p at about 480 kbit/s. */
const picture: Picture = { pictures: 30, packets: 2, bytes: 1_000 }
/** Users who talk, each in a publishing process. */
const talking = 2
/** Users per process: each of its connections has a socket, and every wait checks all sockets. */
const together = 9
const settleMs = 4_000
const windowSeconds = 10

/** A node with a room for users. */
export interface RoomNode extends AsyncDisposable {
  /** Name in the table. */
  name: string
  /** Id of the measured process. */
  pid: number
  /** Address for its users, and the way to join (many-people.ts). */
  url: string
  room: string
  kind: 'embedded' | 'janus'
  /** Users who may join. */
  guests: readonly Guest[]
}

/** Number of users in a room, and of those visible to each; undefined: all. */
const sizes: readonly [people: number, seen: number | undefined][] = [
  [4, undefined],
  [10, undefined],
  [25, undefined],
  [50, 12],
]

/** Measures rooms into the table; some minutes. @param asked only rooms of these sizes; empty: all */
export async function measureMany(asked: readonly string[] = []): Promise<void> {
  for (const [people, seen] of sizes) {
    if (asked.length === 0 || asked.includes(String(people))) await measureRoom(await embeddedRoom(people), seen)
  }
}

async function embeddedRoom(count: number): Promise<RoomNode> {
  const execArgv =
    process.env.ROOMDESK_NODE_PROFILE === undefined
      ? []
      : ['--cpu-prof', '--cpu-prof-dir', process.env.ROOMDESK_NODE_PROFILE]
  const node = await TestMediaNode.start({ program: builtMediaProgram, execArgv })
  await node.openRoom('many', { attendeeMax: 100, maxVideo: 64, maxAudio: 64 })
  const guests = Array.from({ length: count }, (_, i): Guest => {
    const userId = `p${i}`
    return { userId, token: node.token('many', { userId, lifeMs: 3_600_000 }) }
  })
  return {
    name: 'the embedded node',
    pid: node.child.pid ?? 0,
    url: node.url,
    room: 'many',
    kind: 'embedded',
    guests,
    [Symbol.asyncDispose]: async () => void (await node.stop()),
  }
}

/**
 * Lets everybody in a room publish and watch, in processes of their own.
 * @param node ended afterwards
 * @param seen number of users visible to each; undefined: all
 */
export async function measureRoom(node: RoomNode, seen?: number): Promise<void> {
  await using used = node
  const { guests, pid, kind, url } = used
  const count = guests.length
  const args = [url, used.room, JSON.stringify(picture), kind]
  const start = (): ChildProcess => fork(join(import.meta.dirname, 'many-people.ts'), args, { stdio: 'inherit' })
  const publishers = Array.from({ length: talking }, start)
  const audience = Array.from({ length: Math.ceil(count / together) }, start)
  const everybody = [...publishers, ...audience]
  for (const child of audience) if (child.pid !== undefined) setPriority(child.pid, viewersNice)
  const seenByAll = async (message: (index: number) => Asked): Promise<Counted> => {
    const answers = await Promise.all(audience.map(async (child, index) => await ask(child, message(index))))
    const sum = (of: (answer: Counted) => number): number => answers.reduce((all, answer) => all + of(answer), 0)
    return {
      sessions: answers.flatMap(({ sessions }) => sessions),
      viewers: sum(({ viewers }) => viewers),
      wanted: sum(({ wanted }) => wanted),
      again: sum(({ again }) => again),
      sounds: sum(({ sounds }) => sounds),
      pictures: sum(({ pictures }) => pictures),
      lost: sum(({ lost }) => lost),
    }
  }
  try {
    const empty = await residentMegabytes(pid)
    const { sessions } = await seenByAll((index) => ({ enter: guests.slice(index * together, (index + 1) * together) }))
    const part = Math.ceil(count / publishers.length)
    const publishing = (index: number): string[] => sessions.slice(index * part, (index + 1) * part)
    await Promise.all(
      publishers.map(
        async (child, index) => await ask(child, { publish: { sessions: publishing(index), talking: 1 } }),
      ),
    )
    const began = performance.now()
    const watch = guests.map(({ userId }) => userId)
    await seenByAll(() => ({ watch, ...(seen === undefined ? {} : { seen: { shown: seen, speaking: talking } }) }))
    const opened = (performance.now() - began) / 1_000
    await sleep(settleMs)
    const before = await seenByAll(() => ({}))
    const theirs = async (): Promise<number> => {
      const each = await Promise.all(everybody.map(async (child) => await processorMs(child.pid ?? 0)))
      return each.reduce((sum, ms) => sum + ms, 0)
    }
    const [busy, theirsBefore, at] = [await processorMs(pid), await theirs(), performance.now()]
    await sleep(windowSeconds * 1_000)
    const seconds = (performance.now() - at) / 1_000
    const work = ((await processorMs(pid)) - busy) / seconds
    const kept = (await residentMegabytes(pid)) - empty
    const usedByThem = ((await theirs()) - theirsBefore) / seconds
    const after = await seenByAll(() => ({}))
    const each = (of: (counted: Counted) => number): number => (of(after) - of(before)) / seconds
    const [sounds, pictures] = [each((counted) => counted.sounds), each((counted) => counted.pictures)]
    const wanted = count * Math.min(seen ?? count, count - 1) * (picture.pictures ?? 0) * (picture.packets ?? 0)
    const lost = after.lost - before.lost
    report(
      `${count} people at 360p on ${node.name}, ${seen === undefined ? 'everybody sees everybody' : `${seen} are seen at a time`}: ${after.viewers} streams`,
      `${Math.round(pictures)} packets/s of ${wanted} of pictures, ${Math.round(sounds)} of sound, ${lost} lost, ${work.toFixed(0)} ms/s CPU and ${kept.toFixed(0)} MB of the node over its first ${empty.toFixed(0)} MB (${usedByThem.toFixed(0)} of the people, on the same ${cpus().length} cores), all watched after ${opened.toFixed(0)} s, ${after.again} of them at a second attempt`,
      'nothing lost, 98% of the pictures’ packets',
      lost === 0 && after.viewers === after.wanted && pictures > 0.98 * wanted,
    )
  } finally {
    for (const child of everybody) child.kill()
  }
}

async function ask(child: ChildProcess, message: Asked): Promise<Counted> {
  child.send(message)
  const ended = new AbortController()
  const exit = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('a process of people ended')
  })
  exit.catch(() => {
    // Only the race awaits it.
  })
  const [answer] = (await Promise.race([once(child, 'message'), exit])) as [Counted]
  ended.abort()
  return answer
}

if (import.meta.main) await measureMany(process.argv.slice(2))
