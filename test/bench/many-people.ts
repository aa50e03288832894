/** Some users of a large room in a process of their own, so that their work does not count as the node's: they join, publish and watch everybody. Each message is answered with the counts so far. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CountedViewer } from '../support/media/counted-viewer.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { WhepPeer } from '../support/media/whep-peer.ts'
import { WhipPeer } from '../support/media/whip-peer.ts'
import type { Asked, Counted, Guest, Picture } from './many.ts'
import { serveRequests } from './rest.ts'

const [url = '', room = '', pictureText = '{}', kind = 'embedded'] = process.argv.slice(2)
const picture = JSON.parse(pictureText) as Picture
/** Connections that one process starts at a time: more would delay each other. */
const atOnce = 2
const maxTries = 4
/** Height of a tile in a large room, in pixels. */
const tileHeight = 270
/** Maximum time until the node has named all speakers, in milliseconds. */
const voicesMs = 20_000
/** Levels of speech, and of a quiet room, in -dBov. */
const speech = 25
const quiet = 75

interface Person {
  guest: Guest
  session: string
  /** Undefined for users for whom the controller speaks. */
  signal?: SignalClient
}

/** Way to a node: users of a Janus server have already joined, and the address contains their names. */
interface Way {
  enter(guest: Guest): Promise<Person>
  publish(session: string): Promise<WhipPeer>
  watch(stream: string, session: string): Promise<CountedViewer | WhepPeer>
}

const ways: Readonly<Record<string, Way>> = {
  embedded: {
    enter: async (guest) => {
      const signal = await SignalClient.join(url, room, { token: guest.token })
      return { guest, session: signal.joined.session, signal }
    },
    publish: (session) => WhipPeer.open(`${url}/whip/${room}`, session, picture),
    watch: (stream, session) => CountedViewer.open(`${url}/whep/${room}/${stream}`, session, 'connection'),
  },
  janus: {
    enter: (guest) => Promise.resolve({ guest, session: guest.userId }),
    publish: (session) => WhipPeer.open(`${url}/whip/${room}/${session}`, '', { ...picture, anyAddress: true }),
    watch: (stream, session) => WhepPeer.openOffered(`${url}/whep/${room}/${stream}/${session}`),
  },
}
const way = ways[kind]
if (way === undefined) throw new Error(`there is no way to a room on ${kind}`)
const { enter, publish: send, watch: receive } = way

const people: Person[] = []
const publishers: WhipPeer[] = []
const viewers: (CountedViewer | WhepPeer)[] = []
let streams: readonly string[] = []
let wanted = 0
let again = 0

/** Runs for each item, some at a time. */
async function forEach<T>(list: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...list]
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

/** Publishes for all of them; the first ones talk, with pauses, and the others have an open microphone in a quiet room. */
async function publish({ sessions, talking }: NonNullable<Asked['publish']>): Promise<void> {
  await forEach(sessions, async (session) => {
    publishers.push(await send(session))
  })
  let turn = 0
  for (const publisher of publishers) publisher.level = quiet
  setInterval(() => {
    turn += 1
    for (const publisher of publishers.slice(0, talking)) publisher.level = turn % 4 === 0 ? quiet : speech
  }, 100)
}

/** Retries like the room page if no connection follows. */
async function open(stream: string, session: string): Promise<CountedViewer | WhepPeer> {
  for (let tries = 1; ; tries++) {
    try {
      return await receive(stream, session)
    } catch (error) {
      if (tries === maxTries) throw error
      again += 1
    }
  }
}

/** Lets everybody watch everybody else; in a room where not all are visible, the visible users and speakers, like the room page. */
async function watch(seen: Asked['seen']): Promise<void> {
  const all: { id: string; session: string }[] = []
  for (const { guest, session, signal } of people) {
    const voices = seen === undefined || signal === undefined ? undefined : await speaking(signal, seen.speaking)
    for (const id of streams) {
      if (id === guest.userId) continue
      if (seen === undefined || voices?.has(id) || isShown(id, guest.userId, seen.shown)) {
        all.push({ id, session })
      }
    }
  }
  wanted += all.length
  await forEach(all, async ({ id, session }) => {
    viewers.push(await open(id, session))
  })
}

/** Reads the speakers from the node's messages; resolves when there are this many. */
async function speaking(signal: SignalClient, count: number): Promise<ReadonlySet<string>> {
  const voices = new Set<string>(signal.joined.spoke)
  for (const end = performance.now() + voicesMs; voices.size < count; ) {
    for (const message of signal.messages) {
      if (message.type === 'speaking') for (const userId of message.user_ids) voices.add(userId)
    }
    if (performance.now() > end) throw new Error(`of ${count} people who speak the node named ${voices.size}`)
    await sleep(100)
  }
  return voices
}

/** Each user displays the next ones after itself. */
function isShown(id: string, own: string, count: number): boolean {
  const after = (streams.indexOf(id) - streams.indexOf(own) + streams.length) % streams.length
  return after >= 1 && after <= count
}

function show(count: number): void {
  for (const { guest, signal } of people) {
    const shown = streams.map((stream_id) => ({
      stream_id,
      height: isShown(stream_id, guest.userId, count) ? tileHeight : 0,
    }))
    signal?.send({ type: 'shown', streams: shown })
  }
}

async function handle({ enter: guests, publish: publishing, watch: ids, seen }: Asked): Promise<void> {
  if (guests !== undefined) await forEach(guests, async (guest) => void people.push(await enter(guest)))
  if (publishing !== undefined) await publish(publishing)
  if (ids !== undefined) {
    streams = ids
    // Before the first picture: hidden streams are not sent at all.
    if (seen !== undefined) show(seen.shown)
    await watch(seen)
  }
  const sum = (of: (viewer: CountedViewer | WhepPeer) => number): number =>
    viewers.reduce((all, viewer) => all + of(viewer), 0)
  const answer: Counted = {
    sessions: people.map(({ session }) => session),
    viewers: viewers.length,
    wanted,
    again,
    sounds: sum(({ audio }) => audio.received),
    pictures: sum(({ video }) => video.received),
    lost: sum(({ video, audio }) => video.sent - video.received + audio.sent - audio.received),
  }
  process.send?.(answer)
}

// Publishers send on time.
serveRequests(handle, () => publishers.length > 0)
