import type { Locator, Page } from 'playwright-core'

/** Pages of the console, as its navigation names them in English. */
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
] as const
/** The lab is there with a simulated node only. */
export type PageName = (typeof pageNames)[number] | 'Lab'

/** The console as an operator uses it: everything is found by its role and what it is called. */
export class ConsolePages {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Goes to a page by the navigation. */
  async go(name: PageName): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
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

  /** The dialog in front. */
  dialog(name: string | RegExp): Locator {
    return this.page.getByRole('dialog', { name })
  }

  /** A row of the list by what is in it. */
  row(text: string | RegExp): Locator {
    return this.page.getByRole('row').filter({ hasText: text })
  }

  /** Details of the opened row. */
  panel(title: string): Locator {
    return this.page.getByRole('region', { name: title })
  }

  /** Value of a fact, e.g. of the access key in a dialog. */
  async fact(within: Locator, name: string): Promise<string> {
    const term = within.getByRole('term').filter({ hasText: new RegExp(`^${name}$`) })
    return (await term.locator('xpath=following-sibling::dd[1]').innerText()).trim().split('\n')[0] ?? ''
  }

  /** Chooses an act in the menu of a row. */
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
