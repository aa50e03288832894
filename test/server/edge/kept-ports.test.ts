import type { IncomingMessage, ServerResponse } from 'node:http'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { unproven } from '../../../server/gate/gate.ts'
import { clientAddress } from '../../../server/edge/client-address.ts'
import { KeptPorts } from '../../../server/edge/kept-ports.ts'
import { type ConnectionLimits, connectionLimits } from '../../../server/edge/limits.ts'
import { RequestProof } from '../../../server/edge/request-proof.ts'
import { EdgeServer } from '../../../server/edge/server.ts'
import { createSealer } from '../../../server/store/sealer.ts'

const log = { warn: () => undefined, error: () => undefined }
const sealer = createSealer(Buffer.alloc(32, 7))
const proof = RequestProof.by(sealer, 'one')

/** Makes the headers of a request to `/` that another controller forwards for a client. */
function passedOn(listener: string, client: string, by = proof): string[] {
  const said = {
    receiver: 'one',
    listener,
    method: 'GET',
    target: '/',
    headers: ['Host', 'a'],
    client,
    body: undefined,
  }
  return ['Roomdesk-Client', by.valueFor(said), 'Host', 'a']
}

function open(name: string, kept: KeptPorts, limits: ConnectionLimits = connectionLimits.api): EdgeServer {
  const server = new EdgeServer({
    name,
    log,
    limits,
    maxHeaderSize: 8_192,
    kept,
    proof,
    request: unproven('no state', (request: IncomingMessage, response: ServerResponse) =>
      response.end(`${name} ${clientAddress(request)}`),
    ),
  })
  onTestFinished(() => server.stop(0))
  return server
}

test('A port changes its owner while it listens: existing connections stay, and none is refused', async () => {
  const kept = new KeptPorts()
  const [one, other] = [open('one', kept), open('other', kept)]
  const { port } = await one.start({ host: '127.0.0.1', port: 0 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = async (): Promise<string> => {
    const sent = http.get({ host: '127.0.0.1', port, agent })
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    return `${await text(response)} ${sent.reusedSocket}`
  }
  expect(await ask()).toBe('one 127.0.0.1 false')
  expect(one.letGo()).toBe(true)
  expect(one.url).toBe('')
  // Without an owner, the previous one still answers.
  expect(await ask()).toBe('one 127.0.0.1 true')
  await other.start({ host: '127.0.0.1', port })
  expect(await ask()).toBe('other 127.0.0.1 true')
  expect(other.connections).toBe(1)
  await one.stop(0)
  expect(await ask()).toBe('other 127.0.0.1 true')
  other.letGo()
  await kept.close()
  await expect(ask()).rejects.toThrow()
})

test('A client address in a header counts only from a controller of the site, once per request', async () => {
  const server = open('site', new KeptPorts())
  const { port } = await server.start({ host: '127.0.0.1', port: 0 })
  const ask = async (headers: string[]): Promise<string> => {
    const sent = http.get({ host: '127.0.0.1', port, headers, agent: false })
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    return response.statusCode === 200 ? await text(response) : String(response.statusCode)
  }
  const right = passedOn('site', '10.1.2.3')
  expect(await ask(right)).toBe('site 10.1.2.3')
  const stranger = RequestProof.by(createSealer(Buffer.alloc(32, 8)), 'one')
  const old = new RequestProof(proof.key, 'one', undefined, () => Date.now() - 31_000)
  const early = new RequestProof(proof.key, 'one', undefined, () => Date.now() + 31_000)
  const [, value = ''] = passedOn('site', '10.1.2.3')
  const wrong = [
    right,
    ['Roomdesk-Client', value.replace('10.1.2.3', '10.1.2.4'), 'Host', 'a'],
    ['Roomdesk-Client', value, 'Host', 'b'],
    ['Roomdesk-Client', value, 'Host', 'a', 'Authorization', 'Bearer another'],
    ...[passedOn('another', '10.1.2.3'), passedOn('site', '10.1.2.3', stranger)],
    ...[passedOn('site', '10.1.2.3', old), passedOn('site', '10.1.2.3', early)],
  ]
  for (const headers of wrong) expect(await ask(headers)).toBe('421')
  // A value that no controller sends is an ordinary header, and so is a proof in another header.
  for (const said of ['10.1.2.3', `${value} more`, passedOn('site', '<script>')[1] ?? ''])
    expect(await ask(['Roomdesk-Client', said, 'Host', 'a'])).toBe('site 127.0.0.1')
  expect(await ask(['Host', 'a', 'Roomdesk-Client', value])).toBe('site 127.0.0.1')
})

test('A listener opens its own port when the kept one has another address', async () => {
  const kept = new KeptPorts()
  const [one, other] = [open('one', kept), open('other', kept)]
  const { port } = await one.start({ host: '127.0.0.1', port: 0 })
  one.letGo()
  const { port: second } = await other.start({ host: '127.0.0.1', port: 0 })
  expect(second).not.toBe(port)
  await kept.close()
  const probe = http.createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void probe.close())
  await once(probe, 'listening')
  expect((probe.address() as AddressInfo).port).toBe(port)
})

test('Connections of another controller count for no address, because it has many clients', async () => {
  const server = open('site', new KeptPorts(), { connections: 20, perAddress: 3 })
  const { port } = await server.start({ host: '127.0.0.1', port: 0 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  onTestFinished(() => agent.destroy())
  const ask = async (headers: string[]): Promise<boolean> => {
    const sent = http.get({ host: '127.0.0.1', port, headers, agent })
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    await text(response)
    return sent.reusedSocket
  }
  const all = (): Promise<boolean[]> => Promise.all(Array.from({ length: 8 }, () => ask(passedOn('site', '10.1.2.3'))))
  for (let opened = 0; opened < 8; opened++)
    await Promise.all(Array.from({ length: opened + 1 }, () => ask(passedOn('site', '10.1.2.3'))))
  expect(server.connections).toBeGreaterThan(3)
  expect(await all()).toEqual(Array.from({ length: 8 }, () => true))
  // Direct clients stay within the limit of one address.
  const straight = http.get({ host: '127.0.0.1', port, agent: false })
  const [response] = (await once(straight, 'response')) as [http.IncomingMessage]
  expect(await text(response)).toBe('site 127.0.0.1')
  expect(await all()).toEqual(Array.from({ length: 8 }, () => true))
})
