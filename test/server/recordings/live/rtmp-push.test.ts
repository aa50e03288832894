import { expect, test, vi } from 'vitest'
import { checkPushAddress } from '../../../../server/recordings/live/push-address.ts'
import { withoutUrl } from '../../../../server/recordings/live/live-pushes.ts'
import { filmedSite, shortFilm } from '../../../support/sites/filmed-site.ts'

/** A live stream goes to an RTMP server only where its site allows it. */

vi.setConfig({ testTimeout: 180_000 })

test('An address of this site, outside of the allowed networks, or of no RTMP server is refused', async () => {
  const site = await filmedSite({ door: shortFilm })
  const start = (publish_url: string) =>
    site.client.get('/rtc/live/start', { room_id: site.roomId, user_id: 'door', publish_url })
  expect(await start('http://example.org/a')).toMatchObject({ ret: 407, msg: expect.stringContaining('rtmp://') })
  site.settings().live.push_networks = ['192.0.2.0/24']
  expect(await start('rtmp://127.0.0.1/app/key')).toMatchObject({ ret: 407, msg: expect.stringContaining('allow') })
  expect(site.store.all('lives').size).toBe(0)
})

test.each([
  ['127.0.0.1', 4],
  ['127.8.8.8', 4],
  ['0.0.0.0', 4],
  ['::1', 6],
  ['::', 6],
  ['::ffff:127.0.0.1', 6],
  ['169.254.169.254', 4],
  ['::ffff:169.254.169.254', 6],
  ['fe80::1%eth0', 6],
  ['fd00:ec2::254', 6],
  ['100.100.100.200', 4],
  ['::ffff:100.100.100.200', 6],
  ['168.63.129.16', 4],
  ['192.0.0.192', 4],
  ['::127.0.0.1', 6],
  ['64:ff9b::127.0.0.1', 6],
  ['64:ff9b::a9fe:a9fe', 6],
  ['64:ff9b:1::a9fe:a9fe', 6],
  ['2002:7f00:1::', 6],
])('A name that resolves to %s is not called, unless the setting names its network', async (address, family) => {
  const check = (networks: string[]) =>
    checkPushAddress('rtmp://evil.example/app/key', { networks, sitePorts: [] }, async () => [{ address, family }])
  await expect(check([])).rejects.toThrow('allow')
  await expect(check(['192.0.2.0/24', '203.0.113.7'])).rejects.toMatchObject({
    // The sentence, which API clients read, does not name them.
    message: expect.not.stringContaining('192.0.2'),
    refusal: { name: 'pushNetworks', values: { networks: '192.0.2.0/24, 203.0.113.7' } },
  })
  await expect(check([address.replace(/%.*/, '')])).resolves.toBeDefined()
})

test('A server whose address is translated to IPv6 is called', async () => {
  const lookup = async () => [{ address: '64:ff9b::192.0.2.7', family: 6 }]
  const check = checkPushAddress('rtmp://live.example/app/key', { networks: [], sitePorts: [] }, lookup)
  await expect(check).resolves.toBeDefined()
})

test('The name of a server is resolved once, and the checked address is the called one', async () => {
  const here = { networks: [], sitePorts: [7080] }
  const lookup =
    (address: string, family = 4) =>
    async () => [{ address, family }]
  await expect(checkPushAddress('rtmp://evil.example:7080/a/k', here, lookup('127.0.0.1'))).rejects.toThrow('allow')
  await expect(checkPushAddress('rtmp://evil.example:7080/a/k', here, lookup('::1', 6))).rejects.toThrow('allow')
  const withNetwork = { ...here, networks: ['127.0.0.0/8'] }
  await expect(
    checkPushAddress('rtmp://evil.example:7080/a/k', withNetwork, lookup('127.0.0.1')),
  ).rejects.toMatchObject({ refusal: { name: 'pushAddress' } })
  expect(await checkPushAddress('rtmp://live.example/app/key?x=1', here, lookup('192.0.2.7'))).toEqual({
    url: 'rtmp://192.0.2.7:1935/app/key?x=1',
    tcUrl: 'rtmp://live.example/app',
    shown: 'rtmp://live.example:1935',
  })
  expect(await checkPushAddress('rtmps://live.example/app/key', here, lookup('192.0.2.7'))).toEqual({
    url: 'rtmp://192.0.2.7:443/app/key',
    tcUrl: 'rtmps://live.example/app',
    shown: 'rtmps://live.example:443',
    tls: { address: '192.0.2.7', port: 443, host: 'live.example' },
  })
  expect(
    withoutUrl('Error opening rtmp://192.0.2.7:1935/app/topsecret: refused', 'rtmp://192.0.2.7:1935/app/topsecret'),
  ).toBe('Error opening … refused'.replace('… ', '…: '))
})
