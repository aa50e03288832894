import type { Locator, Page } from 'playwright-core'

/**
 * Types a day and a time into a field of the console.
 * @param label name of the field
 * @param day in the format of the page's language, e.g. `1 Dec 2099`
 */
export async function fillDateTime(within: Locator | Page, label: string, day: string, time: string): Promise<void> {
  // The calendar that opens with it has the same name, and another role.
  const date = within.getByRole('combobox', { name: label, exact: true })
  await date.fill(day)
  await date.press('Enter')
  const clock = within.getByLabel(`${label}: time`)
  await clock.fill(time)
  await clock.press('Tab')
}
