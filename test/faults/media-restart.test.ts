import { expect, test } from 'vitest'
import { MediaSite } from '../support/sites/media-site.ts'
import { startCamera } from '../support/camera/camera.ts'
import { SignalClient } from '../support/media/signal-client.ts'

/** Deadlines and delays of the default settings. */
const asShipped = {
  deadlines: { health_interval_ms: 2_000 },
  devices: { reconnect_first_ms: 1_000, reconnect_longest_ms: 30_000 },
}

test('users and cameras are back within 5 s of the end of the media process, twice in a row', {
  timeout: 60_000,
}, async () => {
  await using camera = await startCamera()
  await using site = await MediaSite.start({ settings: asShipped })
  const room = await site.api.createRoom({ host_password: 'open sesame' })
  expect(await site.join(room, 'door', camera.url('/cam'))).toMatchObject({ ret: 0 })
  const url = site.nodeUrl
  for (let ends = 0; ends < 2; ends += 1) {
    const { pid } = site
    const endedAt = performance.now()
    process.kill(pid, 'SIGKILL')
    const listens = (): Promise<boolean> =>
      fetch(url).then(
        () => true,
        () => false,
      )
    await site.until(async () => site.pid !== pid && (await listens()))
    await site.until(async () => {
      const person = await SignalClient.join(url, room, { host_password: 'open sesame' }).catch(() => undefined)
      person?.drop()
      return person !== undefined
    })
    const personBack = performance.now() - endedAt
    await site.until(
      async () => (await site.device('door')).state === 'joined' && (await site.users(room)).includes('door'),
    )
    const cameraBack = performance.now() - endedAt
    console.info(
      `end ${ends + 1}: a person is back after ${personBack.toFixed(0)} ms, the camera after ${cameraBack.toFixed(0)} ms`,
    )
    expect(Math.max(personBack, cameraBack)).toBeLessThan(5_000)
  }
})
