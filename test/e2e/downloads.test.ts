import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { list } from 'tar'
import { expect, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { launch } from './desktop.ts'
import { shared } from '../support/fixtures.ts'

const desktop = shared(async () => {
  const desktop = await launch({})
  await desktop.call('settings.set', { console: { language: 'en' } })
  return desktop
})

/** Sets the path of the next file, as chosen in the Save dialog; undefined: the operator cancels after a while. */
const choose = (path: string | undefined): Promise<void> =>
  desktop().app.evaluate(({ session }, chosen) => {
    session.defaultSession.once('will-download', (_event, item) => {
      if (chosen !== undefined) item.setSavePath(chosen)
    })
  }, path)
const exportActivity = (): Promise<void> => desktop().page.getByRole('button', { name: 'Export' }).click()
const told = () => desktop().page.locator('.message')

test('a download is announced once it is written, and not at all if the operator cancels the dialog', async () => {
  await fetch(`${await desktop().url('media')}/rtc/auth/valid?access_key=nobody&digest=x`)
  await desktop().open('#/activity')
  await desktop().page.getByRole('button', { name: 'Export' }).waitFor()
  // Messages of an earlier story close by themselves.
  await expect.poll(() => told().count()).toBe(0)
  const gaveUp = desktop().app.evaluate(
    ({ session }) =>
      new Promise<string>((resolve) => {
        session.defaultSession.once('will-download', (_event, item) =>
          item.once('done', (_done, state) => resolve(state)),
        )
      }),
  )
  await exportActivity()
  expect(await gaveUp).toBe('cancelled')
  expect(await told().count()).toBe(0)

  const file = join(desktop().userData, 'chosen/activity.ndjson')
  await choose(file)
  await exportActivity()
  await told().waitFor()
  expect(await told().innerText()).toBe('1 request was saved')
  expect(await readFile(file, 'utf8')).toContain('/rtc/auth/valid')
}, 60_000)

test('diagnostics: one file in the chosen place, with the ticked crash reports', async () => {
  const { page } = desktop()
  await mkdir(join(desktop().userData, 'Crashpad/completed'), { recursive: true })
  await writeFile(join(desktop().userData, 'Crashpad/completed/a.dmp'), 'MDMP')
  await desktop().open('#/readiness')
  const dialog = page.getByRole('dialog', { name: 'Save diagnostics' })
  await page.getByRole('button', { name: 'Save diagnostics' }).click()
  await dialog.getByText('Add 1 crash report').click()
  await dialog.getByText('which may contain secrets').waitFor()
  expect(await violations(page)).toEqual([])
  const file = join(desktop().userData, 'diagnostics.tar.gz')
  await choose(file)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  const paths: string[] = []
  await list({ file, onReadEntry: ({ path }) => void paths.push(path.replace(/^[^/]+\//, '')) })
  expect(paths).toEqual(expect.arrayContaining(['README.txt', 'about.json', 'log.ndjson', 'crash-reports/1.dmp']))
}, 60_000)

test('only downloads made by the page are allowed', async () => {
  // Listens before the page starts, so that no download is missed.
  await desktop().app.evaluate(({ session }) => {
    const prevented = new Promise<boolean>((resolve) => {
      session.defaultSession.prependOnceListener('will-download', (event: { preventDefault: () => void }) => {
        const prevent = event.preventDefault
        event.preventDefault = () => {
          prevent()
          resolve(true)
        }
      })
    })
    Object.assign(globalThis, { prevented })
  })
  await desktop().page.evaluate(
    `Object.assign(document.createElement('a'), { href: 'data:application/octet-stream,x', download: 'x.exe' }).click()`,
  )
  const prevented = desktop().app.evaluate(() => (globalThis as { prevented?: Promise<boolean> }).prevented)
  expect(await prevented).toBe(true)
}, 60_000)
