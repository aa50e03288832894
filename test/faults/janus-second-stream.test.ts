import { expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'
import { startCamera } from '../support/camera/camera.ts'
import { startJanus } from '../support/janus/janus-server.ts'

test('on the room page a camera on Janus switches between substream when small and main stream when large without a gap', async () => {
  await using camera = await startCamera({ fps: 10, gop: 10 })
  await using janus = await startJanus({ tokenSecret: 'a secret that signs tokens' })
  await using site = await RoomSite.start({ nodes: [janus.asNode()] })
  const roomId = await site.room({ topic: 'Yard' })
  await site.controller.rpc('devices.create', {
    roomId,
    userId: 'yard',
    userName: 'Yard',
    userAddress: camera.url('/stream1'),
    assist_address: camera.url('/stream2'),
    join: 'required',
  })
  const pulled = async (): Promise<number> => {
    const { list } = await janus.ask('streaming', {
      request: 'list',
      admin_key: janus.configuration.secrets.adminKey,
    })
    return (list as unknown[]).length
  }
  const ann = await site.join(await site.link(roomId, { user_id: 'ann', user_name: 'Ann' }))
  const shown = `document.querySelector('[aria-label="Yard"] video')?.videoHeight`
  await ann.page.setViewportSize({ width: 1280, height: 800 })
  await ann.until(`${shown} === 360`)
  await ann.sees('Yard')
  expect(await pulled()).toBe(1)

  // Measures the maximum time without either picture, in milliseconds.
  await ann.page.evaluate(`(() => {
    globalThis.maxBlank = 0
    let shownAt = performance.now()
    const look = () => {
      const height = ${shown}
      const now = performance.now()
      if (height === 360 || height === 90) shownAt = now
      else maxBlank = Math.max(maxBlank, now - shownAt)
      requestAnimationFrame(look)
    }
    look()
  })()`)
  await ann.page.setViewportSize({ width: 420, height: 360 })
  await ann.until(`${shown} === 90`)
  await ann.sees('Yard')
  expect(await pulled()).toBe(2)

  // The controller is killed, and then stopped in order: the substream continues, and the next controller knows it.
  const made = await ann.watchConnections()
  const longest = await ann.watchStandstill('Yard')
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await site.controller.stop(signal)
    await site.startAgain()
    await ann.page.getByRole('button', { name: 'Chat' }).click()
    await ann.says(`After ${signal}`)
    await ann.reads(`After ${signal}`)
    await ann.page.getByRole('button', { name: 'Chat' }).click()
    await ann.sees('Yard', 20)
  }
  console.log(`the small picture stood still for ${await longest()} ms at most`)
  expect([await made(), await pulled()]).toEqual([0, 2])

  await ann.page.setViewportSize({ width: 1280, height: 800 })
  await ann.until(`${shown} === 360`)
  await ann.sees('Yard')
  const blank = Number(await ann.page.evaluate('maxBlank'))
  console.log(`no picture for at most ${Math.round(blank)} ms`)
  expect(blank).toBeLessThan(500)
  await expect.poll(pulled, { timeout: 15_000 }).toBe(1)
  expect(ann.problems).toEqual([])
  await ann.close()
}, 120_000)
