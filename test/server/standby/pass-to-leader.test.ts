import { request as send } from 'node:http'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { sole } from '../../support/sole-leadership.ts'
import { createOutgoingUser } from '../../../shared/device-operations.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { createListener } from '../../../server/http/listener.ts'
import { passedOnHeader } from '../../../server/edge/passed-on.ts'
import { implement } from '../../../server/http/operation.ts'
import { endedWith } from '../../../server/nodes/pool/state/pool-lifetime.ts'
import { createLog } from '../../../server/observe/log.ts'
import { LeaderResolver } from '../../../server/cluster/leader-resolver.ts'
import { passToLeader, ReverseProxy } from '../../../server/cluster/reverse-proxy.ts'
import { HandedOverError } from '../../../server/store/postgres/database-error.ts'
import { outcomeUnknown, refusedError } from '../../../server/store/storage.ts'
import { fakeLeader, leadBy, proof } from './passing.ts'

const body = JSON.stringify({ roomId: '1', userId: 'cam', userName: 'Gate', userAddress: 'rtsp://10.0.0.9/cam' })
const next = {
  id: 'next',
  name: 'next',
  version: '1',
  role: 'leader',
  behind: 0,
  behindFor: 0,
  seenAt: 0,
  since: 0,
} as const
const nowhere = { media: '', device: '', node: '', console: '', event: '', certificate: '' }

/** The device API of a controller during a handover; `what` runs for each change. */
async function handingOver(what: () => never): Promise<{ url: string; way: LeaderResolver }> {
  const way = new LeaderResolver()
  onTestFinished(() => way.close())
  const listener = createListener({
    api: 'device',
    operations: implement([createOutgoingUser], { create_outgoing_user: () => Promise.resolve().then(what) }),
    sessions: { check: () => ({ ok: true, accessKey: 'a' }) },
    settings: defaultSettings,
    causes: { of: () => undefined },
    leadership: sole,
    observer: { observe: () => {} },
    openApiDocument: () => '{}',
    log: createLog('silent'),
    proof,
    passToLeader: passToLeader(new ReverseProxy(way, proof), () => 5_000),
  })
  const { url } = await listener.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.stop(0))
  return { url, way }
}

const notStored = (): never => {
  throw refusedError(new HandedOverError('next', { ...next, place: nowhere }))
}

/** Error of an operation that needs a node after the nodes were released. */
const withoutNodes = (): never => {
  throw endedWith(new ApiError('noNode'))
}

test.each([
  ['with its length', 'POST', { 'content-length': String(Buffer.byteLength(body)) }, notStored],
  ['in chunks', 'POST', { 'transfer-encoding': 'chunked' }, notStored],
  ['that needs a node', 'POST', { 'content-length': String(Buffer.byteLength(body)) }, withoutNodes],
])(
  'A change with a body %s that arrives during a handover waits for the next leader, which gets it complete',
  async (_, method, lengths, what) => {
    const { url, way } = await handingOver(what)
    const request = send(`${url}${createOutgoingUser.path}?accessToken=a`, {
      method,
      headers: { 'content-type': 'application/json', ...lengths },
    })
    const answered = once(request, 'response') as Promise<[IncomingMessage]>
    request.write(body.slice(0, 10))
    request.end(body.slice(10))
    await expect.poll(() => way.waiting).toBe(1)
    const got: string[] = []
    const leader = await fakeLeader((asked, response) => {
      void text(asked).then((whole) => {
        got.push(`${asked.method} ${asked.url} ${asked.headers['content-type']} ${whole}`)
        response.end('{"ret":0}')
      })
    })
    leadBy(way, 'next', leader.url)
    const [answer] = await answered
    expect(await text(answer)).toBe('{"ret":0}')
    expect(got).toEqual([`${method} ${createOutgoingUser.path}?accessToken=a application/json ${body}`])
  },
)

test('A change forwarded by another controller goes back to it at once', async () => {
  const { url } = await handingOver(notStored)
  const began = performance.now()
  const target = `${createOutgoingUser.path}?accessToken=a`
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body))]
  const said = { receiver: 'self', listener: 'device', method: 'POST', target, client: '10.0.0.7', headers, body }
  const request = send(`${url}${target}`, {
    method: 'POST',
    headers: [passedOnHeader, proof.valueFor(said), ...headers],
  })
  request.end(body)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await text(answer)
  expect([answer.statusCode, answer.headers['roomdesk-not-leader']]).toEqual([421, '1'])
  expect(performance.now() - began).toBeLessThan(500)
})

test('A change that may have been stored is not sent again', async () => {
  const { url, way } = await handingOver(() => {
    throw outcomeUnknown('the database did not answer in time')
  })
  const leader = await fakeLeader((_, response) => response.end('{"ret":0}'))
  leadBy(way, 'next', leader.url)
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}${createOutgoingUser.path}?accessToken=a`, { method: 'POST', headers, body })
  expect(await answer.json()).not.toMatchObject({ ret: 0 })
  expect(leader.requests).toEqual([])
})
