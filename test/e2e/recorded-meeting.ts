import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { record } from '../support/recordings/recorded-files.ts'
import { type ConsoleUnderTest, type Face, openConsole } from '../support/sites/console-site.ts'

/** Two hours ago, at a full minute. */
export const startedAt = Math.floor(Date.now() / 60_000) * 60_000 - 7_200_000

/** A meeting: Anna for 12 seconds, Ben comes after 3 seconds and leaves after 7; a camera films all the time. */
export async function meeting(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'recordings')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const person = { folder, roomId: '1000', device: false, film: { codec: 'vp8' } } as const
  await record({ ...person, userId: 'anna', userName: 'Anna', startedAt })
  await record({
    ...person,
    userId: 'ben',
    userName: 'Ben',
    startedAt: startedAt + 3_000,
    film: { codec: 'h264', seconds: 4 },
  })
  await record({ folder, roomId: '1000', userId: 'dock', userName: 'Loading dock', startedAt, film: { seconds: 12 } })
}

/** Opens the console on the page of the recorded meeting. */
export async function openPage(face: Face): Promise<{ console: ConsoleUnderTest; page: Page }> {
  const opened = await openConsole(face, { prepare: meeting })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  const { page } = opened
  // Segments of four seconds: three each of Anna and the camera, one of Ben.
  const segments = async (): Promise<number> =>
    (await opened.call('recordings.sources', {})).items.reduce((sum, source) => sum + source.segments, 0)
  await expect.poll(segments, { timeout: 30_000 }).toBe(7)
  await opened.call('overview.dismiss_welcome', {})
  const [address] = page.url().split('#')
  await page.goto('about:blank')
  await page.goto(`${address}#/recordings?room=1000&at=${startedAt + 500}`)
  await page.getByRole('toolbar', { name: 'Player' }).waitFor()
  return { console: opened, page }
}
