import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential, roleOf, type SiteController } from '../support/sites/controllers-site.ts'
import { CapturedController, sendCaptured } from '../support/controllers/heard-request.ts'

interface Two {
  site: ControllersSite
  leader: SiteController
  replica: SiteController
  /** Ids of the controllers. */
  ids: Map<SiteController, string>
}

async function twoControllers(): Promise<Two> {
  const site = await ControllersSite.start({ controllers: 2, proxied: true })
  onTestFinished(() => site.remove())
  const leader = await site.leader()
  const replica = site.controllers.find((one) => one !== leader)
  if (replica === undefined) throw new Error('Nobody stands by.')
  const { items } = await leader.headless.rpc('controllers.list', {})
  const ids = new Map(site.controllers.map((one) => [one, items.find(({ name }) => name === one.name)?.id ?? '']))
  return { site, leader, replica, ids }
}

/** Cuts all controllers off from the database, or reconnects them. */
function databaseAway({ controllers }: ControllersSite, away: boolean): void {
  for (const { proxy } of controllers) {
    if (proxy === undefined) throw new Error('It has no way of its own.')
    proxy.closed = away
    if (away) proxy.cut()
  }
}

/** A proxy of a controller's console, with an attacker on it. */
interface Between {
  url: string
  /** Answers in place of the controller. */
  answers: boolean
  /** Number of requests that the attacker answered. */
  asked: number
}

const madeUpHealth = JSON.stringify({ ok: true, role: 'leader', epoch: '999999999', store: 'ok' })

async function somebodyBetween(to: string): Promise<Between> {
  const between: Between = { url: '', answers: true, asked: 0 }
  const server = createServer((asker) => {
    asker.on('error', () => {})
    if (between.answers) {
      asker.once('data', () => {
        between.asked += 1
        asker.end(
          `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${madeUpHealth.length}\r\n\r\n${madeUpHealth}`,
        )
      })
      return
    }
    const controller = connect(Number(new URL(to).port), '127.0.0.1')
    controller.on('error', () => {})
    asker.pipe(controller).pipe(asker)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  between.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return between
}

/** Makes the announcement of a controller that joins. */
const joiner = (id: string, console: string): string =>
  JSON.stringify({
    ...{ id, name: 'b', version: '0.2.0' },
    place: { media: '', device: '', node: '', console, event: '', certificate: '' },
  })

/** Creates a room, and returns a read of it that must keep working. */
async function readerOf({ headless }: SiteController): Promise<() => Promise<unknown>> {
  const api = new ApiClient(headless.ready, credential)
  await api.authenticate()
  const room = await api.createRoom()
  return async () => await api.get('/rtc/room/get', { room_id: room })
}

// Takes about 8 s.
test('An invented controller that claims to lead is never believed, even with a captured request of a controller', {
  timeout: 60_000,
}, async () => {
  const { site, leader, replica, ids } = await twoControllers()
  const read = await readerOf(leader)
  const stranger = await somebodyBetween(replica.headless.ready.console)
  const captured = await CapturedController.of(site)
  const { console } = leader.headless.ready
  const leaderId = ids.get(leader) ?? ''
  const own = joiner(ids.get(replica) ?? '', replica.headless.ready.console)
  const registration = captured.call(leaderId, 'POST', '/controllers', own)
  expect((await sendCaptured(console, registration)).status).toBe(204)
  const body = joiner('0badc0ffee', stranger.url)
  const length = ['Content-Length', String(body.length)]
  const at = registration.headers.indexOf('Content-Length')
  const headers = registration.headers.with(at, length[0] ?? '').with(at + 1, length[1] ?? '')
  expect((await sendCaptured(console, { ...registration, headers, body })).status).not.toBe(204)
  expect((await sendCaptured(console, { ...registration, headers: headers.slice(2), body })).status).not.toBe(204)

  databaseAway(site, true)
  const until = performance.now() + 6_000
  while (performance.now() < until) expect(await read()).toMatchObject({ ret: 0 })
  expect(stranger.asked).toBe(0)
  expect(await roleOf(leader)).toBe('leader')
})

// Takes about 10 s.
test('A modified answer of another controller does not depose the leader: it counts as no answer, and the leader answers again after a genuine one', {
  timeout: 60_000,
}, async () => {
  const { site, leader, replica, ids } = await twoControllers()
  const read = await readerOf(leader)
  const between = await somebodyBetween(replica.headless.ready.console)
  const captured = await CapturedController.of(site)
  databaseAway(site, true)
  const body = joiner(ids.get(replica) ?? '', between.url)
  const registration = captured.call(ids.get(leader) ?? '', 'POST', '/controllers', body)
  expect((await sendCaptured(leader.headless.ready.console, registration)).status).toBe(204)
  await expect.poll(async () => (void read(), between.asked), { timeout: 10_000 }).toBeGreaterThan(3)
  between.answers = false
  await expect.poll(read, { timeout: 5_000 }).toMatchObject({ ret: 0 })
  expect(await roleOf(leader)).toBe('leader')
  databaseAway(site, false)
  const api = new ApiClient(leader.headless.ready, credential)
  await expect.poll(async () => (await api.authenticate()).ret, { timeout: 10_000 }).toBe(0)
})

/** Requests with endless bodies, from one address. */
const endless = 2_000

// Takes about 5 s.
test.each([
  ['without a length', { 'transfer-encoding': 'chunked' }],
  ['with a large length', { 'content-length': '1000000' }],
])(
  'Endless bodies, many from one address, %s: others and the address itself reach the leader through the replica',
  { timeout: 60_000 },
  async (_, headers) => {
    const { replica } = await twoControllers()
    const { media } = replica.headless.ready
    const requests = Array.from({ length: endless }, () => {
      const outgoing = send(`${media}/rtc/room/create?topic=a&owner_id=o&room_mode=1`, {
        ...{ method: 'POST', agent: false, headers, localAddress: '127.0.0.1' },
      })
      outgoing.on('error', () => {})
      outgoing.write('a')
      return outgoing
    })
    onTestFinished(() => {
      for (const outgoing of requests) outgoing.destroy()
    })
    await Promise.all(
      requests.map(async (outgoing) => {
        if (outgoing.socket === null) await once(outgoing, 'socket')
        if (outgoing.socket?.connecting === true) await once(outgoing.socket, 'connect')
      }),
    )
    for (const localAddress of ['127.0.0.2', '127.0.0.1']) {
      const asked = send(`${media}/rtc/room/get?room_id=none`, { agent: false, localAddress }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      expect(await json(answer)).toMatchObject({ ret: expect.any(Number) as number })
    }
  },
)
