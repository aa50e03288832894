import { expect, test } from 'vitest'
import { liveSite, type LiveSite } from '../../../support/sites/live-site.ts'

/** Answers to the first call of the original SDKs. */

const info = (site: LiveSite) => site.client.get('/sdk/config/serverinfo')

async function siteForOlderClients(options: Parameters<typeof liveSite>[0] = {}): Promise<LiveSite> {
  const site = await liveSite(options)
  site.settings().compatibility.older_clients = true
  return site
}

test('An ICE server list of the original SDKs is empty, or STUN and then TURN', async () => {
  const site = await siteForOlderClients()
  const { media } = site.settings()
  media.ice_servers = [{ urls: ['stun:stun.example'], username: '', credential: '' }]
  expect(await info(site)).toMatchObject({ ice_servers: [] })
  media.ice_servers = [{ urls: ['turns:turn.example:5349?transport=tcp'], username: 'u', credential: 'c' }]
  const turn = { url: 'turns:turn.example:5349?transport=tcp', username: 'u', credential: 'c' }
  expect((await info(site)).ice_servers).toEqual([
    { url: 'stuns:turn.example:5349', username: '', credential: '' },
    turn,
  ])
  media.ice_servers.push({ urls: ['turn:other.example', 'stun:stun.example'], username: '', credential: '' })
  expect((await info(site)).ice_servers).toEqual([{ url: 'stun:stun.example', username: '', credential: '' }, turn])
})

test('Both APIs have the external address of the site, and its scheme', async () => {
  const site = await siteForOlderClients()
  expect(await info(site)).toMatchObject({ rest_uri: new URL(site.client.media).host, room_server: { protocol: 'ws' } })
  site.settings().media.public_url = 'https://rooms.example.org/site'
  site.settings().tls.mode = 'self-signed'
  expect(await info(site)).toMatchObject({ rest_uri: 'rooms.example.org/site', room_server: { protocol: 'wss' } })
})

test('The room server is an online node if there is one, else any enabled node, else 410', async () => {
  const addresses = (host: string) => [{ tag: 'local', addr: `${host}:7082` }]
  const site = await siteForOlderClients({
    nodes: {
      off: { enabled: false, addresses: addresses('10.0.0.1') },
      first: { addresses: addresses('10.0.0.2') },
      second: { addresses: addresses('10.0.0.3') },
    },
  })
  const uri = async () => ((await info(site)).room_server as { uri: string }).uri
  const state = (name: string) => site.pool.nodes.views().find(({ config }) => config.name === name)?.state
  expect(await uri()).toBe('10.0.0.2:7082')
  site.node('first').setFault({ mode: 'offline', delayMs: 0 })
  await site.until(() => state('first') === 'offline')
  expect(await uri()).toBe('10.0.0.3:7082')
  site.node('second').setFault({ mode: 'offline', delayMs: 0 })
  await site.until(() => state('second') === 'offline')
  expect(await uri()).toBe('10.0.0.2:7082')
  const none = await siteForOlderClients({ nodes: {} })
  expect(await info(none)).toMatchObject({ ret: 410 })
})
