/** Calls of clients about rooms on Janus: our API beside Janus's own, by the same client over as many kept connections, in turn in one run. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../../support/api-client.ts'
import { freePort } from '../../support/free-port.ts'
import { type Headless, startHeadless } from '../../support/headless.ts'
import { type JanusServer, startJanus } from '../../support/janus/janus-server.ts'
import { RoomPeer } from '../../support/janus/room-peers.ts'
import { type Asked, connections, createAndDelete, type Load, load, loadRounds, seconds } from '../load.ts'
import { processorMs } from '../process-figures.ts'
import { report } from '../table.ts'

const credential = { access_key: 'bench', secret_key: 'bench-secret', label: 'Bench', p2p: true }
const roomCount = 25
const peopleInEach = 4
/** Time until all users are known, in milliseconds. */
const knownMs = 30_000
const warmSeconds = 2

/** A load, and the server's processor time per request or round, in microseconds. */
interface Figures extends Load {
  us: number
}

/** Compared calls: ours, and Janus's. */
interface Pair {
  what: string
  raw: string
  /** Maximum processor time of ours as a ratio to Janus's: rates also depend on the number of cores that each of them uses. */
  goal?: number
  /** @param duration in seconds */
  ours(duration: number): Promise<Load>
  theirs(duration: number): Promise<Load>
}

/** Measures into the table; a minute and a half. */
export async function measureCalls(): Promise<void> {
  const port = await freePort()
  await using janus = await startJanus({ eventBackend: `ws://127.0.0.1:${port}/` })
  const flags = ['--event-port', String(port)]
  const site = await startHeadless({ site: { credentials: [credential], nodes: [janus.asNode()] }, flags })
  const people: RoomPeer[] = []
  try {
    await sendEvents(site, janus)
    const api = new ApiClient(site.ready, credential)
    await api.authenticate()
    const rooms: string[] = []
    for (let n = 0; n < roomCount; n++) {
      const room = await api.createRoom()
      rooms.push(room)
      await api.get('/sdk/get_mcu', { room_id: room })
      for (let i = 0; i < peopleInEach; i++) people.push(await RoomPeer.join(janus, room, `p${i}`))
    }
    await untilKnown(api, rooms)
    for (const pair of pairs(api, janus, rooms)) await compare(pair, site, janus)
  } finally {
    await Promise.all(people.map((person) => person.leave()))
    await site.remove()
  }
}

/** Restarts Janus with the product's file that makes it send events. @throws Error if none arrive */
async function sendEvents(site: Headless, janus: JanusServer): Promise<void> {
  const { name } = janus.asNode()
  const { files } = await site.rpc('nodes.janus_config', { name })
  const handler = files.find((file) => file.name === 'janus.eventhandler.wsevh.jcfg')
  if (handler === undefined) throw new Error('the product has no configuration for the events of a node')
  janus.configure({ [handler.name]: handler.text })
  await janus.restart()
  const tells = async (): Promise<boolean> =>
    (await site.rpc('nodes.list', {})).some(({ state, program }) => state === 'online' && program?.events === true)
  for (const end = performance.now() + knownMs; !(await tells()); ) {
    if (performance.now() > end) throw new Error('the node sends no events')
    await sleep(100)
  }
}

/** Waits until all users are known, a moment after their events. @throws Error if some are missing */
async function untilKnown(api: ApiClient, rooms: readonly string[]): Promise<void> {
  const isKnown = async (room_id: string): Promise<boolean> => {
    const { user_list } = await api.get('/rtc/room/get_room_info', { room_id })
    return Array.isArray(user_list) && user_list.length === peopleInEach
  }
  const end = performance.now() + knownMs
  for (const room of rooms) {
    while (!(await isKnown(room))) if (performance.now() > end) throw new Error(`not everybody in ${room} is known`)
  }
}

function pairs(api: ApiClient, janus: JanusServer, rooms: readonly string[]): Pair[] {
  const token = encodeURIComponent(api.token)
  let turn = 0
  const room = (): string => rooms[turn++ % rooms.length] ?? ''
  const ask = (request: object): Asked => ({ body: messageTo(janus, request) })
  const ok = (answer: string): boolean => answer.startsWith('{"ret":0')
  const has = (text: string) => (answer: string) => answer.includes(text)
  return [
    {
      what: 'get_mcu of a room on Janus',
      raw: 'exists',
      goal: 1.2,
      ours: (duration) => load(api.media, () => `/sdk/get_mcu?access_token=${token}&room_id=${room()}`, ok, duration),
      theirs: (duration) =>
        load(janus.adminUrl, () => ask({ request: 'exists', room: room() }), has('"exists":true'), duration),
    },
    {
      what: `get_room_info of a room on Janus with ${peopleInEach} people`,
      raw: 'listparticipants',
      goal: 1.2,
      ours: (duration) =>
        load(api.media, () => `/rtc/room/get_room_info?access_token=${token}&room_id=${room()}`, ok, duration),
      theirs: (duration) =>
        load(janus.adminUrl, () => ask({ request: 'listparticipants', room: room() }), has('"id":"p3"'), duration),
    },
    {
      what: 'room created, opened on Janus (get_mcu) and deleted',
      raw: 'create and destroy',
      ours: (duration) =>
        createAndDelete(api.media, token, {
          between: (made) => `/sdk/get_mcu?access_token=${token}&room_id=${made}`,
          duration,
        }),
      theirs: async (duration) => {
        const { adminKey: admin_key } = janus.configuration.secrets
        const made = (answers: readonly string[]): string => /"room":"([^"]+)"/.exec(answers[0] ?? '')?.[1] ?? ''
        const create = {
          ask: () => ask({ request: 'create', room: `raw-${turn++}`, permanent: false, admin_key }),
          expected: has('"created"'),
        }
        const destroy = {
          ask: (answers: readonly string[]) => ask({ request: 'destroy', room: made(answers) }),
          expected: has('"destroyed"'),
        }
        return await loadRounds(janus.adminUrl, [create, destroy], duration)
      },
    },
  ]
}

/** Sends a request to the Admin API. */
function messageTo(janus: JanusServer, request: object): string {
  const { admin } = janus.configuration.secrets
  const plugin = 'janus.plugin.videoroom'
  return JSON.stringify({ janus: 'message_plugin', transaction: 't', admin_secret: admin, plugin, request })
}

async function compare({ what, raw, goal, ours, theirs }: Pair, site: Headless, janus: JanusServer): Promise<void> {
  const [we, they] = [await figures(ours, site.ready.pid), await figures(theirs, janus.pid)]
  const [ratio, cost] = [we.rate / they.rate, we.us / they.us]
  const failures = we.failures + they.failures
  report(
    `${what}, to Janus's own ${raw}`,
    `${ratio.toFixed(2)} times as many: ${said(we)}; Janus ${said(they)}${failures > 0 ? `, ${failures} FAILED` : ''}`,
    goal === undefined ? 'none' : `at most ${goal} times the processor of Janus, at ${connections} connections`,
    (goal === undefined || cost <= goal) && failures === 0,
  )
}

/** Measures after a warm-up. */
async function figures(run: (duration: number) => Promise<Load>, pid: number): Promise<Figures> {
  await run(warmSeconds)
  const before = await processorMs(pid)
  const measured = await run(seconds)
  const us = ((await processorMs(pid)) - before) * 1_000
  return { ...measured, us: us / measured.rounds }
}

function said({ rate, median, p99, us }: Figures): string {
  return `${Math.round(rate)}/s, median ${median} ms, p99 ${p99} ms, ${us.toFixed(0)} us of processor each`
}
