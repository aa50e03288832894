import { parseDeviceAddress } from '../../../shared/device-address.ts'
import { expect, test } from 'vitest'
import { type DeviceProbe, findSubstream, substreamAddresses } from '../../../server/devices/device-probe.ts'

test.each([
  ['rtsp://cam/Streaming/Channels/101', 'rtsp://cam/Streaming/Channels/102'],
  [
    'rtsp://cam:8554/Streaming/channels/1201?transportmode=unicast',
    'rtsp://cam:8554/Streaming/channels/1202?transportmode=unicast',
  ],
  ['rtsp://cam/h264/ch1/main/av_stream', 'rtsp://cam/h264/ch1/sub/av_stream'],
  ['rtsp://cam/cam/realmonitor?channel=1&subtype=0', 'rtsp://cam/cam/realmonitor?channel=1&subtype=1'],
  ['rtsp://cam/cam/realmonitor?channel=1', 'rtsp://cam/cam/realmonitor?channel=1&subtype=1'],
  ['rtsp://cam/h265Preview_01_main', 'rtsp://cam/h264Preview_01_sub'],
  ['rtsp://cam/unicast/c3/s0/live', 'rtsp://cam/unicast/c3/s1/live'],
  ['rtsps://cam:322/stream1', 'rtsps://cam:322/stream2'],
  ['rtsp://cam/videoMain', 'rtsp://cam/videoSub'],
  ['rtsp://cam/live.sdp', 'rtsp://cam/live2.sdp'],
  ['rtsp://cam/rtsp_tunnel?inst=1', 'rtsp://cam/rtsp_tunnel?inst=2'],
  ['rtsp://cam/11', 'rtsp://cam/12'],
  ['rtsp://main.gate/live/main', 'rtsp://main.gate/live/sub'],
])('beside %s a camera may have %s', (main, second) => {
  expect(substreamAddresses(main)[0]).toBe(second)
})

test('an address of an unknown kind has no suggestion', () => {
  for (const path of ['', '/', '/live', '/Streaming/Channels/102', '/stream10', '/111']) {
    expect(substreamAddresses(`rtsp://maincam${path}`)).toEqual([])
  }
})

const unknown = { kind: 'video', codec: 'H264', detail: '', carried: true, way: 'direct' as const, reason: null }
const video = (width: number, height: number) => ({ ...unknown, width, height })
const device = { address: parseDeviceAddress('rtsp://cam/main/stream1'), login: { name: 'admin', password: 'secret' } }
const never = new AbortController().signal

function answering(answer: (address: string) => Partial<Awaited<ReturnType<DeviceProbe>>>): {
  asked: string[]
  probe: DeviceProbe
} {
  const asked: string[] = []
  const probe: DeviceProbe = ({ address: { address }, login }) => {
    expect(login).toEqual(device.login)
    asked.push(address)
    return Promise.resolve({ ok: true, kind: null, message: '', detail: '', tracks: [], ...answer(address) })
  }
  return { asked, probe }
}

test('a camera that answers every path with the same stream has no substream', async () => {
  const { asked, probe } = answering(() => ({ tracks: [video(1280, 720)] }))
  expect(await findSubstream(probe, device, [video(1280, 720)], never)).toBeNull()
  expect(asked).toEqual(['rtsp://cam/main/stream2', 'rtsp://cam/sub/stream1'])
})

test('the second name is tried if the first does not exist', async () => {
  const { probe } = answering((address) =>
    address.includes('sub') ? { tracks: [video(640, 360)] } : { ok: false, kind: 'notFound' },
  )
  expect(await findSubstream(probe, device, [video(1280, 720)], never)).toEqual({
    address: 'rtsp://cam/sub/stream1',
    width: 640,
    height: 360,
  })
})

test('a camera that refuses the login is not asked again: it might lock the account', async () => {
  const { asked, probe } = answering(() => ({ ok: false, kind: 'auth' }))
  expect(await findSubstream(probe, device, [video(1280, 720)], never)).toBeNull()
  expect(asked).toHaveLength(1)
})

test('a stream of unknown size has no known substream', async () => {
  const { asked, probe } = answering(() => ({ tracks: [video(640, 360)] }))
  expect(await findSubstream(probe, device, [unknown], never)).toBeNull()
  expect(asked).toEqual([])
})
