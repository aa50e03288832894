import { expect, test, vi } from 'vitest'
import { filmedSite, shortFilm } from '../support/sites/filmed-site.ts'

vi.setConfig({ testTimeout: 60_000 })

test('A recording whose file does not fit beside the reserve fails with that reason, and the recorded part stays', async () => {
  const site = await filmedSite({ door: shortFilm }, { segmentMs: 1_000 })
  const { client, roomId, recorder } = site
  const segments = () => recorder.index.segments({ roomId, userId: 'door' })
  const started = await client.get('/rtc/recording/start', { room_id: roomId, user_id: 'door' })
  const id = String(started.id)
  await vi.waitFor(() => expect(segments().length).toBeGreaterThan(0), { timeout: 20_000 })
  recorder.space = { free: 1_000, capacity: 1e12, reserve: 900, margin: 50 }
  await client.get('/rtc/recording/stop', { id })
  await vi.waitFor(
    async () =>
      expect(await client.get('/rtc/recording/get', { id })).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining('disk is too full'),
      }),
    { timeout: 20_000 },
  )
  expect(segments().length).toBeGreaterThan(0)
})
