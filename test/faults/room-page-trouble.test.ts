import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startLossyProxy } from '../support/media/lossy-proxy.ts'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'

/** Sends the media of a page over another address of the node; its own addresses stay unknown, so that there is no other way. */
async function sendThrough(page: Page, host: string): Promise<void> {
  await page.route(/\/whip\//, async (route) => {
    const offer = route.request().postData() ?? ''
    const answer = await route.fetch({ postData: offer.replace(/a=candidate:.*\r\n/g, '') })
    const body = (await answer.text()).replaceAll(/(a=candidate:\S+ \d UDP \d+ )\S+/gi, `$1${host}`)
    await route.fulfill({ response: answer, body })
  })
  await page.route(/\/session\//, async (route) => {
    if (route.request().method() === 'PATCH') await route.fulfill({ status: 204 })
    else await route.continue()
  })
}

/** Replaces the camera by noise of 640 by 360 pixels, which needs a good link. */
const noisyCamera = `{
  const { mediaDevices } = navigator
  const take = mediaDevices.getUserMedia.bind(mediaDevices)
  mediaDevices.getUserMedia = async (wanted) => {
    if (!wanted.video) return await take(wanted)
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 })
    const context = canvas.getContext('2d')
    const picture = context.createImageData(640, 360)
    setInterval(() => {
      const pixels = new Uint32Array(picture.data.buffer)
      for (let at = 0; at < pixels.length; at += 1) pixels[at] = 0xff000000 | (Math.random() * 0xffffff)
      context.putImageData(picture, 0, 0)
    }, 80)
    return canvas.captureStream(12)
  }
}`

test('a user on a slow uplink reads so, with what to do; the notice disappears when the link recovers', {
  timeout: 120_000,
}, async () => {
  await using site = await RoomSite.start()
  await using proxy = await startLossyProxy(Number(new URL(site.controller.ready.node).port), 0)
  const room = await site.room()
  const page = await site.window()
  page.context().setDefaultTimeout(40_000)
  await sendThrough(page, proxy.host)
  await page.addInitScript(noisyCamera)
  await page.goto(await site.link(room))
  const bo = new Visitor(page)
  await bo.enter('Bo')
  const ann = await site.join(await site.link(room), { name: 'Ann' })
  await ann.sees('Bo')
  const words = bo.page.getByText('Your connection is slow: others see you in low quality')
  expect(await words.count()).toBe(0)
  Object.assign(proxy.toTarget, { kbps: 200, queueMs: 300 })
  await Promise.race([words.waitFor(), bo.page.getByText('Your connection loses data').waitFor()])
  expect(await bo.accessibilityProblems()).toEqual([])
  Object.assign(proxy.toTarget, { kbps: Number.POSITIVE_INFINITY })
  // The browser raises its rate step by step.
  await words.waitFor({ state: 'detached', timeout: 60_000 })
  expect(await bo.page.locator('.banner.warn').count()).toBe(0)
  expect([...ann.problems, ...bo.problems]).toEqual([])
})
