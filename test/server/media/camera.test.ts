import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Camera, startCamera } from '../../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../../support/media/browser.ts'
import { TestMediaNode } from '../../support/media/media-node.ts'

let camera: Camera
let browser: Browser
let node: TestMediaNode
beforeAll(async () => {
  ;[camera, browser, node] = await Promise.all([
    startCamera({ pattern: 'smpte' }),
    startBrowser(),
    TestMediaNode.start(),
  ])
})
afterAll(async () => {
  await Promise.all([camera.kill(), browser.close(), node.stop()])
})

test('a camera in a room is seen and heard in a browser', async () => {
  await node.openRoom('r1')
  await node.addDevice('r1', 'cam', camera.url('/cam'))
  expect(await node.userIds('r1')).toEqual(['cam'])
  const page = await MediaPage.open(browser, node.url)
  const answer = await page.call('watch', 'view', `${node.url}/whep/r1/cam`, node.token('r1'), {})
  expect(answer.problem).toBeNull()
  const stats = await page.decodes('view', 20)
  console.log(stats)
  const c = await page.colours('view', [0.07, 0.3], [0.5, 0.3], [0.93, 0.3])
  console.log(c)
  await page.page.screenshot({ path: '/tmp/cam.png' })
  console.log(node.complaints)
})
