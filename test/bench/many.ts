/** Rooms of people on the embedded media node: `npm run bench -- many`, or `… many:25` for the room of 25. People are libdatachannel's, in processes of their own; their pictures hold nothing. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtProgram, TestMediaNode } from '../support/media/media-node.ts'
import type { Publishing } from '../support/media/whip-peer.ts'
import { viewersNice } from './crowd.ts'
import { processorMs, residentMegabytes } from './process-figures.ts'
import { report } from './table.ts'

/** What everybody sends. */
export type Picture = Pick<Publishing, 'pictures' | 'packets' | 'bytes'>

/** Somebody who comes in by a link. */
export interface Guest {
  userId: string
  token: string
}

/** What a process of people is asked to do. */
export interface Asked {
  enter?: Guest[]
  /** These sessions publish, and so many of them talk. */
  publish?: { sessions: string[]; talking: number }
  /** Everybody in it watches these, except themselves. */
  watch?: string[]
  /** So many of them are shown; of the others only those who speak are watched, so many in all, for their sound. Left out: all are shown. */
  seen?: { shown: number; speaking: number }
}

/** What it answers. */
export interface Counted {
  /** Of those who are in the room by it. */
  sessions: string[]
  viewers: number
  /** How many there are to be. */
  wanted: number
  /** Attempts to watch that came to nothing and were made again. */
  again: number
  /** Packets of sound and picture that came to its viewers, and those that did not. */
  sounds: number
  pictures: number
  lost: number
}

/** 360p at some 480 kbit/s. */
const picture: Picture = { pictures: 30, packets: 2, bytes: 1_000 }
/** People who talk, each of them in a process of publishers. */
const talking = 2
/** People in one process: each of its connections has a socket, and whoever waits for one looks at all of them. */
const together = 9
const settleMs = 4_000
const windowSeconds = 10

/** A node with a room for people. */
export interface RoomNode extends AsyncDisposable {
  /** As the table names it. */
  name: string
  /** Of the process whose work is counted. */
  pid: number
  /** Where its people come, and how (many-people.ts). */
  url: string
  room: string
  kind: 'embedded' | 'janus'
  /** Who may enter. */
  guests: readonly Guest[]
}

/** How many people there are in a room, and how many of them each sees; undefined: all. */
const sizes: readonly [people: number, seen: number | undefined][] = [
  [4, undefined],
  [10, undefined],
  [25, undefined],
  [50, 12],
]

/** Measures rooms into the table; some minutes. @param asked only those of so many people; empty: all */
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
  const node = await TestMediaNode.start({ program: builtProgram, execArgv })
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
 * Everybody in a room publishes and watches, in processes of their own.
 * @param node is ended
 * @param seen how many each sees; undefined: all
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
    // It is awaited in the race alone.
  })
  const [answer] = (await Promise.race([once(child, 'message'), exit])) as [Counted]
  ended.abort()
  return answer
}

if (import.meta.main) await measureMany(process.argv.slice(2))
