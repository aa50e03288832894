import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { ObjectServer } from '../support/objects/object-server.ts'
import { record } from '../support/recordings/recorded-files.ts'
import { openConsole } from '../support/sites/console-site.ts'

/** Folder for screenshots. */
const pictures = process.env.ROOMDESK_PICTURES
const startedAt = Date.now() - 7_200_000
const languages = { en: 'en', zh: 'zh', de: 'de' } as const
/** Parts of the sentences of the overview and of the settings card. */
const sentences = {
  en: [/Recordings are not uploaded to object storage/, /The storage cannot be reached\. Check its address and port/],
  zh: [/录像无法上传到对象存储/, /无法连接存储。请检查其地址、端口和网络/],
  de: [/nicht in den Objektspeicher hochgeladen/, /Prüfen Sie/],
} as const

test('the bucket becomes unreachable: overview and settings say so and what to do, in each language; when it returns, everything is uploaded', {
  timeout: 240_000,
}, async () => {
  const server = await ObjectServer.start()
  onTestFinished(() => server.remove())
  await server.vanish()
  const opened = await openConsole('headless', {
    prepare: async (dataFolder) => {
      const folder = join(dataFolder, 'recordings')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await record({
        folder,
        roomId: '1000',
        userId: 'dock',
        userName: 'Loading dock',
        startedAt,
        film: { seconds: 12 },
      })
    },
  })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  const { page, call } = opened
  const status = async () => await call('recordings.status', {})
  await call('overview.dismiss_welcome', {})
  await expect.poll(async () => (await status()).segments, { timeout: 30_000 }).toBe(3)
  await call('settings.set', { object_storage: server.settings() })
  await expect
    .poll(async () => (await status()).objects, { timeout: 30_000 })
    .toMatchObject({
      problem: 'unreachable',
      waiting: 3,
    })
  const [address] = page.url().split('#')
  const found: Record<string, string[]> = {}
  for (const theme of ['light', 'dark'] as const) {
    for (const language of Object.values(languages)) {
      await call('settings.set', { console: { theme, language } })
      const [ofOverview, ofSettings] = sentences[language]
      const look = async (what: string): Promise<void> => {
        if (language === 'en') found[`${what}, ${theme}`] = await violations(page, 'colours')
        if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${what}-${theme}-${language}.png`) })
      }
      await page.goto('about:blank')
      await page.goto(`${address}#/overview`)
      const item = page.getByRole('listitem').filter({ hasText: ofOverview })
      await item.filter({ hasText: ofSettings }).waitFor()
      await look('storage-away-overview')
      await page.goto(`${address}#/settings/recording`)
      const told = page.getByRole('status').filter({ hasText: ofSettings }).first()
      await told.waitFor()
      await told.scrollIntoViewIfNeeded()
      await look('storage-away-settings')
    }
  }
  expect(Object.entries(found).filter(([, faults]) => faults.length > 0)).toEqual([])
  await call('settings.set', { console: { theme: 'light', language: 'en' } })
  await page.goto('about:blank')
  await page.goto(`${address}#/settings/recording`)
  const bar = page.getByRole('status').filter({ hasText: sentences.en[1] })
  await bar.first().waitFor()
  await server.listen()
  // The page notices by itself.
  await bar.first().waitFor({ state: 'detached', timeout: 150_000 })
  await expect
    .poll(async () => (await status()).objects, { timeout: 60_000 })
    .toMatchObject({
      problem: null,
      waiting: 0,
      stored: 3,
    })
  const { attention } = await call('overview.get', {})
  expect(attention.map(({ code }) => code)).not.toContain('recordingObjects')
  await page
    .getByText(/in 3 segments/)
    .first()
    .waitFor()
  expect(opened.problems).toEqual([])
})
