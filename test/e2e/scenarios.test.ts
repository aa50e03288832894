import { mkdir } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openConsole } from '../support/sites/console-site.ts'

test('An admin runs a scenario from the Lab page, step by step and to its end', async () => {
  const opened = await openConsole('headless')
  onTestFinished(() => opened[Symbol.asyncDispose]())
  const { page, problems } = opened
  await page.getByRole('navigation').getByRole('link', { name: 'Lab' }).click()
  await page.getByRole('button', { name: 'Scenarios' }).click()
  await page.getByRole('heading', { name: 'Scenarios', exact: true }).waitFor()

  const run = page.getByRole('region', { name: 'A room is full' })
  const question = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Run: A room is full' }).click()
  await page.getByText('need a site with simulated nodes only').waitFor()
  await shot('refused')
  for (const { config } of await opened.call('nodes.list')) await opened.call('nodes.disable', { name: config.name })
  await page.getByRole('button', { name: 'Run: A room is full' }).click()
  await question.getByText('Creates the credential Lab client').waitFor()
  await question.getByText('Adds the node Lab 1').waitFor()
  await question.getByRole('button', { name: 'Run' }).click()
  await run.getByRole('button', { name: 'Pause' }).click()
  await run.getByText('Paused').waitFor()
  await run.getByRole('button', { name: 'Next step' }).click()
  await run.getByText('Holds').first().waitFor()
  await shot('paused')
  for (let step = 0; step < 12 && (await run.getByText('Paused').count()) > 0; step++) {
    await run
      .getByRole('button', { name: 'Next step' })
      .click({ timeout: 2_000 })
      .catch(() => {})
    await page.waitForTimeout(150)
  }
  await run.getByText('All 11 steps hold').waitFor()
  await shot('done')
  expect((await opened.call('credentials.list', {})).map(({ label }) => label)).not.toContain('Lab client')
  expect(problems).toEqual([])

  async function shot(name: string): Promise<void> {
    const folder = process.env.SCENARIO_SHOTS
    if (folder === undefined) return
    await mkdir(folder, { recursive: true })
    await page.screenshot({ path: `${folder}/${name}.png` })
  }
})
