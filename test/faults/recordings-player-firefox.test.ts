import { expect, test } from 'vitest'
import { Firefox, firefoxMissing, firefoxPath } from '../support/firefox.ts'
import { playerSite } from '../support/recordings/player-site.ts'

const startedAt = Date.UTC(2026, 8, 21, 10)

test('Firefox plays to its end the recording of a person who switches the camera off and on five times', async ({
  skip,
}) => {
  if (firefoxPath === undefined) return skip(firefoxMissing)
  const site = await playerSite()
  for (let part = 0; part < 11; part++)
    await site.record({
      startedAt: startedAt + part * 2_000,
      film: { codec: 'vp8', seconds: 2 },
      has: (kind) => kind === 'sound' || part % 2 === 0,
    })
  await using firefox = await Firefox.start(firefoxPath)
  const page = await firefox.open(site.url)
  await page.until("'PlayerPage' in globalThis")
  await page.evaluate(`(() => {
      globalThis.player = new PlayerPage(${startedAt})
      player.add('camera', ${JSON.stringify(site.pieces('camera'))})
      player.conductor.play()
    })()`)
  await expect.poll(() => page.evaluate('player.conductor.at'), { timeout: 80_000 }).toBeGreaterThan(startedAt + 21_300)
  await expect.poll(() => page.evaluate('player.conductor.ended'), { timeout: 20_000 }).toBe(true)
}, 180_000)
