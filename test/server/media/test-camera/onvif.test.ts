import { afterAll, beforeAll, expect, test } from 'vitest'
import { onvifStreams } from '../../../../server/devices/discovery/onvif-client.ts'
import { discoverCameras } from '../../../../server/devices/discovery/ws-discovery.ts'
import { lanAddresses } from '../../../../server/edge/network-addresses.ts'
import { testCameraSpecSchema } from '../../../../shared/media/test-camera.ts'
import { playCamera } from '../../../support/camera/played-camera.ts'
import { type RunningTestCamera, startTestCamera } from '../../../support/camera/test-camera.ts'

let running: RunningTestCamera
const login = { name: 'admin', password: 'a<b&c' }
const signal = AbortSignal.timeout(60_000)
const serviceAt = (host: string): string => `http://${host}:${running.camera.state.onvif_port}/onvif/device_service`

beforeAll(async () => {
  running = await startTestCamera({
    ...{ name: 'onvif-door', network: true, onvif: true, auth: 'digest', password: login.password },
    behaviours: ['wrong-clock=600'],
  })
})
afterAll(() => running[Symbol.dispose]())

test('the node asks it for its streams, and plays them', async () => {
  const streams = await onvifStreams(serviceAt('127.0.0.1'), login, signal)
  expect(streams).toEqual([
    { address: running.url, width: 640, height: 360 },
    { address: `${running.url}/sub`, width: 320, height: 180 },
  ])
  await using played = await playCamera(streams[1]?.address ?? '', { login })
  expect(played.tracks).toHaveLength(1)
})

test('a wrong login is refused, with a user name token and with digest of HTTP', async () => {
  const wrong = onvifStreams(serviceAt('127.0.0.1'), { name: 'admin', password: 'no' }, signal)
  await expect(wrong).rejects.toMatchObject({ kind: 'login' })
  const snapshot = await fetch(new URL('/onvif/snapshot.jpg', serviceAt('127.0.0.1')))
  expect([snapshot.status, snapshot.headers.get('www-authenticate')?.slice(0, 6)]).toEqual([401, 'Digest'])
})

test.skipIf(lanAddresses().length === 0)('a search of the network finds it', async () => {
  const { cameras } = await discoverCameras({ from: lanAddresses(), networks: [], waitMs: 1_500 })
  const found = cameras.find(({ name }) => name === 'onvif-door')
  expect(found).toMatchObject({ model: 'Roomdesk lab', service: serviceAt(found?.host ?? '') })
})

test('a client that subscribes gets the motion alarm, its changes and nothing twice', async () => {
  using open = await startTestCamera({ name: 'motion', network: true, onvif: true })
  const origin = `http://127.0.0.1:${open.camera.state.onvif_port}`
  const ask = async (url: string, operation: string): Promise<string> => {
    const body = `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>${operation}</s:Body></s:Envelope>`
    const response = await fetch(url, { method: 'POST', body })
    return `${response.status} ${await response.text()}`
  }
  const service = `${origin}/onvif/device_service`
  expect(await ask(service, '<tev:GetEventProperties/>')).toContain('<MotionAlarm wstop:topic="true">')
  const created = await ask(service, '<tev:CreatePullPointSubscription/>')
  const address = /<wsa:Address>([^<]+)</.exec(created)?.[1] ?? ''
  expect(address).toMatch(new RegExp(`^${origin}/onvif/events/\\d+$`))
  const pull =
    '<tev:PullMessages><tev:Timeout>PT10S</tev:Timeout><tev:MessageLimit>1</tev:MessageLimit></tev:PullMessages>'
  const states = [await ask(address, pull), await ask(address, pull)].map(
    (text) => /Value="(true|false)"/.exec(text)?.[1],
  )
  expect([...states].sort()).toEqual(['false', 'true'])
  const soon = pull.replace('PT10S', 'PT0S')
  expect(await ask(address, soon)).not.toContain('NotificationMessage')
  expect(await ask(address, '<wsnt:Renew/>')).toContain('<wsnt:RenewResponse>')
  expect(await ask(address, '<wsnt:Unsubscribe/>')).toMatch(/^200 /)
  expect(await ask(address, pull)).toMatch(/^400 .*ActionNotSupported/)
})

test('snapshot and PTZ are answered; other operations, long and broken requests are refused', async () => {
  using open = await startTestCamera({ name: 'open', network: true, onvif: true })
  const service = `http://127.0.0.1:${open.camera.state.onvif_port}/onvif/device_service`
  const ask = async (body: string): Promise<string> => {
    const response = await fetch(service, { method: 'POST', body }).catch(() => undefined)
    return response === undefined ? 'closed' : `${response.status} ${await response.text()}`
  }
  const soap = (operation: string): string =>
    `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><${operation}/></s:Body></s:Envelope>`
  expect(await ask(soap('p:ContinuousMove'))).toContain('<p:ContinuousMoveResponse/>')
  const uri = /<t:Uri>([^<]+)</.exec(await ask(soap('m:GetSnapshotUri')))?.[1] ?? ''
  const picture = Buffer.from(await (await fetch(uri)).arrayBuffer())
  expect(picture.subarray(0, 2).toString('hex')).toBe('ffd8')
  expect(await ask(soap('d:SystemReboot'))).toMatch(/^400 .*ActionNotSupported/)
  expect(await ask('not xml')).toMatch(/^400 /)
  expect(await ask('x'.repeat(200_000))).toMatch(/^(413|closed)/)
  expect(open.complaints).toEqual([])
})

test('ONVIF needs the network', () => {
  expect(testCameraSpecSchema.safeParse({ name: 'a', onvif: true }).error?.issues[0]?.message).toBe(
    'onvif needs network',
  )
})
