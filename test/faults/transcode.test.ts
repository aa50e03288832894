import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { TestMediaNode } from '../support/media/media-node.ts'

let camera: Camera
let browser: Browser
let node: TestMediaNode
let page: MediaPage
beforeAll(async () => {
  ;[camera, browser, node] = await Promise.all([
    startCamera({ width: 320, height: 180, fps: 15, gop: 30 }),
    startBrowser(),
    TestMediaNode.start(),
  ])
  page = await MediaPage.open(browser, node.url)
  await node.openRoom('room', { maxVideo: 64, maxAudio: 64 })
})
afterAll(async () => {
  await Promise.all([camera.kill(), browser.close(), node.stop()])
})

async function watch(streamId: string): Promise<void> {
  const token = node.token('room', { role: 'observer' })
  const answer = await page.call('watch', streamId, `${node.url}/whep/room/${streamId}`, token, {})
  expect(answer.problem).toBeNull()
}

describe('what browsers do not show is shown through ffmpeg', () => {
  test.each([
    ['h265', 'H.265'],
    ['jpeg', 'Motion JPEG'],
    ['mpeg4', 'MPEG-4 Visual'],
    ['bframes', 'H.264'],
    ['high10', 'H.264'],
    ['high422', 'H.264'],
    ['high444', 'H.264'],
    ['interlaced', 'H.264'],
  ])('the pictures of /%s', async (mount, from) => {
    await node.addDevice('room', mount, camera.url(`/${mount}`))
    await watch(mount)
    const { video } = await page.decodes(mount, 45)
    expect(video?.height).toBe(180)
    const stream = await node.stream('room', mount)
    expect(stream).toMatchObject({ video_codec: 'H264', conversion: { from, state: 'running' } })
    await page.call('close', mount, true)
    await node.request('remove_device', { roomId: 'room', userId: mount })
  })
})
