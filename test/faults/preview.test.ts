import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import type { Windows } from '../support/chromium.ts'
import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { offerSdp } from '../support/media/offer.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { MediaSite } from '../support/sites/media-site.ts'

describe('a preview for the operator', () => {
  let site: MediaSite
  let camera: Camera
  let browser: Windows
  let page: MediaPage
  let room: string
  beforeAll(async () => {
    ;[site, camera, browser] = await Promise.all([MediaSite.start(), startCamera(), openMediaWindows()])
    page = await MediaPage.open(browser, site.nodeUrl)
    room = await site.api.createRoom({ host_password: 'open sesame' })
    await site.join(room, 'door', camera.url('/cam'))
  })
  afterAll(async () => {
    await browser.close()
    await site[Symbol.asyncDispose]()
    await camera.kill()
  })

  test('shows a camera live, without a user in its room', async () => {
    const preview = await site.rpc('media.preview_device', { userId: 'door' })
    expect(preview).toMatchObject({ room_id: room, stream_id: 'door' })
    expect(await page.call('watch', 'preview', preview.url, preview.token, {})).toMatchObject({ status: 201 })
    await page.decodes('preview', 20)
    expect(await site.users(room)).toEqual(['door'])
    const { streams, connections } = await site.rpc('media.stats', { room_id: room })
    expect(streams).toMatchObject([{ stream_id: 'door', viewers: 1 }])
    expect(connections).toEqual([])
    await page.call('close', 'preview', true)
    await site.until(async () => (await site.rpc('media.stats', {})).streams[0]?.viewers === 0)
  })

  test("shows a user's camera and microphone, with the state of the connection and a rate from two readings", async () => {
    const { url } = await site.rpc('media.join_link', { room_id: room, user_id: 'anna', role: 'host' })
    const token = new URL(url).hash.replace('#token=', '')
    const person = await SignalClient.join(site.nodeUrl, room, { token })
    const { session } = person.joined
    expect(await page.call('publish', 'anna', `${site.nodeUrl}/whip/${room}`, session, {})).toMatchObject({
      status: 201,
    })
    await site.until(async () => (await site.rpc('media.stats', { room_id: room })).streams.length === 2)
    await site.until(async () => {
      const { connections } = await site.rpc('media.stats', { room_id: room })
      return connections.some(({ user_id, peers }) => user_id === 'anna' && peers[0]?.state === 'connected')
    })
    const preview = await site.rpc('media.preview_stream', { room_id: room, stream_id: 'anna' })
    expect(await page.call('watch', 'view', preview.url, preview.token, {})).toMatchObject({ status: 201 })
    const bytes = async (): Promise<number> => {
      const { streams } = await site.rpc('media.stats', { room_id: room })
      return streams.find(({ stream_id }) => stream_id === 'anna')?.video_bytes ?? 0
    }
    const first = await bytes()
    await page.decodes('view', 20)
    expect(await bytes()).toBeGreaterThan(first)

    expect(await site.api.get('/rtc/force_offline_mcu', { room_id: room, user_id: 'anna' })).toMatchObject({ ret: 0 })
    await person.closed
    expect(await site.users(room)).toEqual(['door'])
    expect((await site.rpc('media.stats', { room_id: room })).streams.map(({ stream_id }) => stream_id)).toEqual([
      'door',
    ])
    await page.until('anna', ({ state }) => state !== 'connected')
  })

  test('opens with a token of that room only, and reports a missing stream', async () => {
    const other = await site.api.createRoom()
    await site.join(other, 'gate', camera.url('/cam'))
    const { token } = await site.rpc('media.preview_device', { userId: 'door' })
    const gate = await site.rpc('media.preview_device', { userId: 'gate' })
    expect(await page.call('watch', 'x', gate.url, token, {})).toMatchObject({ status: 401 })
    await expect(site.rpc('media.preview_device', { userId: 'nobody' })).rejects.toThrow('no such outgoing user')
    await expect(site.rpc('media.preview_stream', { room_id: room, stream_id: 'nobody' })).rejects.toThrow(
      'no such stream',
    )
    await site.rpc('devices.pause', { userIds: ['gate'] })
    await expect(site.rpc('media.preview_device', { userId: 'gate' })).rejects.toThrow('not joined')
  })
})

test('A preview reaches the node by the path of the console, whatever address clients get', async () => {
  await using camera = await startCamera()
  // The address of a router in front of the site, which does not answer here.
  const addresses = [{ tag: 'wan', addr: '127.0.0.9:9' }]
  await using site = await MediaSite.start({ nodes: [{ name: 'here', kind: 'embedded', addresses }] })
  const room = await site.api.createRoom()
  expect(await site.join(room, 'door', camera.url('/cam'))).toMatchObject({ ret: 0 })
  const offer = offerSdp({ video: ['H264'], audio: false })
  const { answer, session } = await site.rpc('media.watch', { room_id: room, stream_id: 'door', small: false, offer })
  expect(answer).toContain('m=video')
  expect(session).not.toBe('')
  await site.rpc('media.unwatch', { room_id: room, session })
})
