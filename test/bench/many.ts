/** Rooms of many people on the embedded media node: `npm run bench -- many`, or `… many:25` for the room of 25. People are libdatachannel's, in processes of their own; their pictures hold nothing. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtProgram, TestMediaNode } from '../support/media/media-node.ts'
import type { Publishing } from '../support/media/whip-peer.ts'
import { viewersNice } from './crowd.ts'
import { processorMs } from './process-figures.ts'
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

/** Measures both rooms into the table; some minutes. @param asked only those of so many people; empty: both */
export async function measureMany(asked: readonly string[] = []): Promise<void> {
  const isAsked = (people: number): boolean => asked.length === 0 || asked.includes(String(people))
  if (isAsked(25)) await room('everybody sees everybody', 25, undefined)
  if (isAsked(50)) await room('12 are seen at a time', 50, 12)
}

async function room(what: string, count: number, seen: number | undefined): Promise<void> {
  const execArgv =
    process.env.ROOMDESK_NODE_PROFILE === undefined
      ? []
      : ['--cpu-prof', '--cpu-prof-dir', process.env.ROOMDESK_NODE_PROFILE]
  await using node = await TestMediaNode.start({ program: builtProgram, execArgv })
  await node.openRoom('many', { attendeeMax: 100, maxVideo: 64, maxAudio: 64 })
  const guests = Array.from({ length: count }, (_, i): Guest => {
    const userId = `p${i}`
    return { userId, token: node.token('many', { userId, lifeMs: 3_600_000 }) }
  })
  const args = [node.url, 'many', JSON.stringify(picture)]
  const start = (): ChildProcess => fork(join(import.meta.dirname, 'many-people.ts'), args, { stdio: 'inherit' })
  const publishers = Array.from({ length: talking }, start)
  const audience = Array.from({ length: Math.ceil(count / together) }, start)
  const everybody = [...publishers, ...audience]
  for (const { pid } of audience) if (pid !== undefined) setPriority(pid, viewersNice)
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
    const pid = node.child.pid ?? 0
    const before = await seenByAll(() => ({}))
    const theirs = async (): Promise<number> => {
      const each = await Promise.all(everybody.map(async (child) => await processorMs(child.pid ?? 0)))
      return each.reduce((sum, ms) => sum + ms, 0)
    }
    const [busy, theirsBefore, at] = [await processorMs(pid), await theirs(), performance.now()]
    await sleep(windowSeconds * 1_000)
    const seconds = (performance.now() - at) / 1_000
    const used = ((await processorMs(pid)) - busy) / seconds
    const usedByThem = ((await theirs()) - theirsBefore) / seconds
    const after = await seenByAll(() => ({}))
    const each = (of: (counted: Counted) => number): number => (of(after) - of(before)) / seconds
    const [sounds, pictures] = [each((counted) => counted.sounds), each((counted) => counted.pictures)]
    const wanted = count * Math.min(seen ?? count, count - 1) * (picture.pictures ?? 0) * (picture.packets ?? 0)
    const lost = after.lost - before.lost
    report(
      `${count} people at 360p, ${what}: ${after.viewers} streams`,
      `${Math.round(pictures)} packets/s of ${wanted} of pictures, ${Math.round(sounds)} of sound, ${lost} lost, ${used.toFixed(0)} ms/s CPU of the node (${usedByThem.toFixed(0)} of the people, on the same ${cpus().length} cores), all watched after ${opened.toFixed(0)} s, ${after.again} of them at a second attempt`,
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
