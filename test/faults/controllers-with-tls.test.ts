import { once } from 'node:events'
import { connect } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential, type SiteController } from '../support/sites/controllers-site.ts'
import { handOver } from '../support/controllers/hand-over.ts'
import { SignalClient } from '../support/media/signal-client.ts'

/** Uses everything at one address: both APIs, a body, the room page, signalling, the console. */
async function everythingAnswers({ headless }: SiteController): Promise<void> {
  const { media, device, node, console } = headless.ready
  for (const url of [media, device, node, console]) expect(url).toMatch(/^https:/)
  const api = new ApiClient(headless.ready, credential)
  expect(await api.authenticate()).toMatchObject({ ret: 0 })
  const room = await api.createRoom()
  const body = new URLSearchParams({ roomId: room, accessToken: api.token })
  const sent = await fetch(`${device}/avd/api/outgoing/getOutgoingUsers`, { method: 'POST', body })
  expect(await sent.json()).toMatchObject({ ret: 0 })
  const link = await api.get('/rtc/room/join_url', { room_id: room, user_id: 'ann', user_name: 'Ann' })
  const token = new URL(String(link.url)).hash.replace('#token=', '')
  // The leader's embedded node may just have started.
  const person = await vi.waitFor(() => SignalClient.join(node, room, { token }), 5_000)
  expect((await fetch(node)).status).toBe(200)
  expect(await api.get('/rtc/room/get_room_info', { room_id: room })).toMatchObject({ ret: 0 })
  person.drop()
  const { items } = await headless.rpc('rooms.list', { search: room })
  expect(items).toHaveLength(1)
}

test('With TLS on every port a replica forwards everything to the leader, also after a change of leader', {
  timeout: 60_000,
}, async () => {
  // The certificate is self-signed: this process accepts any.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const site = await ControllersSite.start({
    controllers: 2,
    nodes: [{ name: 'here', kind: 'embedded' }],
    settings: { tls: { mode: 'self-signed' } },
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' },
  })
  onTestFinished(() => site.remove())
  const first = await site.leader()
  const second = site.controllers.find((one) => one !== first)
  if (second === undefined) throw new Error('Nobody stands by.')
  for (const one of [first, second]) await everythingAnswers(one)

  await handOver(site, second, second)
  await expect.poll(async () => (await site.leader()).name).toBe(second.name)
  for (const one of [second, first]) await everythingAnswers(one)

  await site.kill(second)
  expect(await site.leader(second)).toBe(first)
  await site.restart(second)
  for (const one of [first, second]) await everythingAnswers(one)
})

/** Reads the SHA-256 of the certificate on a TLS port. */
async function certificateAt(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

test('Controllers of a site without a certificate use TLS between each other on every port from the first start, with the same certificate after a restart', {
  timeout: 60_000,
}, async () => {
  const site = await ControllersSite.start({ controllers: 2, nodes: [{ name: 'here', kind: 'embedded' }] })
  onTestFinished(() => site.remove())
  const shown = new Map<string, string>()
  for (const { name, headless } of site.controllers) {
    const { media, device, node, console } = headless.ready
    const certificates = new Set(await Promise.all([media, device, node, console].map(certificateAt)))
    expect(certificates.size).toBe(1)
    shown.set(name, [...certificates].join())
    for (const url of [media, device, node, console]) {
      expect(url).toMatch(/^http:/)
      expect((await fetch(url)).status).toBeLessThan(500)
    }
  }
  expect(new Set(shown.values()).size).toBe(2)

  const leader = await site.leader()
  const replica = site.controllers.find((one) => one !== leader)
  if (replica === undefined) throw new Error('Nobody stands by.')
  await site.kill(leader)
  expect(await site.leader(leader)).toBe(replica)
  await site.restart(leader)
  expect(await certificateAt(leader.headless.ready.console)).toBe(shown.get(leader.name))
  const api = new ApiClient(leader.headless.ready, credential)
  expect(await api.authenticate()).toMatchObject({ ret: 0 })
  expect(await certificateAt(replica.headless.ready.node)).toBe(shown.get(replica.name))
})
