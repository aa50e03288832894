import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { clientAddress } from '../../../server/edge/client-address.ts'
import { KeptPorts } from '../../../server/edge/kept-ports.ts'
import { type ConnectionLimits, connectionLimits } from '../../../server/edge/limits.ts'
import { ProofOfClient } from '../../../server/edge/passed-on.ts'
import { EdgeServer } from '../../../server/edge/server.ts'
import { createSealer } from '../../../server/store/sealer.ts'

const log = { warn: () => undefined, error: () => undefined }
const sealer = createSealer(Buffer.alloc(32, 7))
const proof = new ProofOfClient(sealer.keyFor('passed on'))

function open(name: string, kept: KeptPorts, limits: ConnectionLimits = connectionLimits.api): EdgeServer {
  const server = new EdgeServer({
    name,
    log,
    limits,
    maxHeaderSize: 8_192,
    kept,
    proof,
    request: (request, response) => response.end(`${name} ${clientAddress(request)}`),
  })
  onTestFinished(() => server.stop(0))
  return server
}

test('A port changes its owner while it listens: the connections that it has go on, and none is refused', async () => {
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
  // Nobody owns it: whoever had it still answers.
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

test('A client that says where it is is not believed; a controller of the site is, while its proof is fresh', async () => {
  const server = open('site', new KeptPorts())
  const { port } = await server.start({ host: '127.0.0.1', port: 0 })
  const ask = async (headers: string[]): Promise<string> => {
    const sent = http.get({ host: '127.0.0.1', port, headers, agent: false })
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    return await text(response)
  }
  const right = proof.headerFor('10.1.2.3')
  expect(await ask(['Roomdesk-Client', right, 'Host', 'a'])).toBe('site 10.1.2.3')
  // Known by now, and still right.
  expect(await ask(['Roomdesk-Client', right, 'Host', 'a'])).toBe('site 10.1.2.3')
  const stranger = new ProofOfClient(createSealer(Buffer.alloc(32, 8)).keyFor('passed on'))
  const old = new ProofOfClient(sealer.keyFor('passed on'), () => Date.now() - 20 * 60_000)
  const wrong = [
    '10.1.2.3',
    right.replace('10.1.2.3', '10.1.2.4'),
    `${right} more`,
    stranger.headerFor('10.1.2.3'),
    old.headerFor('10.1.2.3'),
    proof.headerFor('<script>'),
  ]
  for (const value of wrong) expect(await ask(['Roomdesk-Client', value, 'Host', 'a'])).toBe('site 127.0.0.1')
  // Anywhere else it is a header like any other.
  expect(await ask(['Host', 'a', 'Roomdesk-Client', right])).toBe('site 127.0.0.1')
})

test('A port that nobody owns is wanted by its address: another port is opened beside it', async () => {
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

test('Connections of another controller count for no address: its clients are many', async () => {
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
  const all = (headers: string[]): Promise<boolean[]> => Promise.all(Array.from({ length: 8 }, () => ask(headers)))
  const passedOn = ['Roomdesk-Client', proof.headerFor('10.1.2.3'), 'Host', 'a']
  for (let opened = 0; opened < 8; opened++) await Promise.all(Array.from({ length: opened + 1 }, () => ask(passedOn)))
  expect(server.connections).toBeGreaterThan(3)
  expect(await all(passedOn)).toEqual(Array.from({ length: 8 }, () => true))
  // Of clients that come straight only as many stay as one address may have.
  const straight = http.get({ host: '127.0.0.1', port, agent: false })
  const [response] = (await once(straight, 'response')) as [http.IncomingMessage]
  expect(await text(response)).toBe('site 127.0.0.1')
  expect(await all(passedOn)).toEqual(Array.from({ length: 8 }, () => true))
})
