import type { Locator, Page } from 'playwright-core'

/** Pages of the console, by their English names in the navigation. */
export const pageNames = [
  'Overview',
  'Credentials',
  'Rooms',
  'MCU nodes',
  'Controllers',
  'Devices',
  'Events',
  'Activity',
  'API tester',
  'Settings',
  'Help',
] as const
/** The lab appears only with a simulated node. */
export type PageName = (typeof pageNames)[number] | 'Lab'

/** The console as an operator uses it: finds elements by role and name. */
export class ConsolePages {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Opens a page by the navigation; on a phone by a tab, or by the sheet of further pages. */
  async go(name: PageName): Promise<void> {
    const nav = this.page.getByRole('navigation', { name: 'Pages', exact: true })
    const more = nav.getByRole('button', { name: 'More', exact: true })
    const link = nav.getByRole('link', { name })
    // The width of the window decides: after a resize, the navigation of the size before may still be there.
    const isPhone = await this.page.evaluate<boolean>("matchMedia('(max-width: 640px)').matches")
    if (isPhone) await more.waitFor()
    if (!isPhone || (await link.count()) > 0) await link.click()
    else {
      await more.click()
      await this.dialog('More').getByRole('link', { name }).click()
      await this.dialog('More').waitFor({ state: 'hidden' })
    }
    await this.heading(name).waitFor()
  }

  heading(name: string): Locator {
    return this.page.getByRole('heading', { level: 1, name })
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  /** The search field of the page. */
  get search(): Locator {
    return this.page.getByLabel(/^Search /)
  }

  /** Closes a dialog by the button below its content: a message inside it, perhaps of an earlier story, has one, too. */
  async closeDialog(name: string): Promise<void> {
    await this.dialog(name).locator('.dialog-box').getByRole('button', { name: 'Close', exact: true }).click()
  }

  /** The dialog in front. */
  dialog(name: string | RegExp): Locator {
    return this.page.getByRole('dialog', { name })
  }

  /** A row of the list, by its content. */
  row(text: string | RegExp): Locator {
    return this.page.getByRole('row').filter({ hasText: text })
  }

  /** Details of the opened row. */
  panel(title: string): Locator {
    return this.page.getByRole('region', { name: title })
  }

  /** Reads the value of a fact, e.g. of the access key in a dialog. */
  async fact(within: Locator, name: string): Promise<string> {
    const term = within.getByRole('term').filter({ hasText: new RegExp(`^${name}$`) })
    return (await term.locator('xpath=following-sibling::dd[1]').innerText()).trim().split('\n')[0] ?? ''
  }

  /** Chooses an action in the menu of a row. */
  async actOnRow(text: string, act: string): Promise<void> {
    await this.row(text)
      .getByRole('button', { name: /^More actions/ })
      .click()
    await this.page.getByRole('menuitem', { name: act, exact: true }).click()
  }

  /** Confirms the question in front. */
  async confirm(action: string): Promise<void> {
    await this.page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click()
  }
}
