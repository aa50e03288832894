import { firstRunSchema } from '../first-run.ts'
import { languageChoices } from '../languages.ts'
import { choice, integer, structure, toggle } from './setting.ts'

export const consoleSettings = {
  language: choice(
    { choices: languageChoices, default: 'system' },
    { card: 'look', order: 1, access: 'open', restarts: 'nothing' },
  ),
  theme: choice(
    { choices: ['system', 'light', 'dark'], default: 'system' },
    { card: 'look', order: 2, access: 'open', restarts: 'nothing' },
  ),
  welcome_done: toggle({ default: false }, { card: 'none', order: 0, access: 'open', restarts: 'nothing' }),
  first_run: structure(
    { schema: firstRunSchema, default: firstRunSchema.parse({}), control: 'none' },
    { card: 'none', order: 0, access: 'open', restarts: 'nothing' },
  ),
  /**
   * Whether the console key can be used to sign in and to call `/rpc`. Off: only accounts and their tokens can, which
   * requires an enabled admin.
   */
  key_sign_in: toggle({ default: true }, { card: 'none', order: 0, access: 'person', restarts: 'nothing' }),
  metrics_token: toggle({ default: false }, { card: 'metrics', order: 1, access: 'person', restarts: 'nothing' }),
  /**
   * Whether lists of devices and rooms show a thumbnail of each camera. Thumbnails are updated every minute, and stored
   * by the browser.
   */
  thumbnails: toggle({ default: true }, { card: 'look', order: 3, access: 'open', restarts: 'nothing' }),
  /**
   * Whether viewers may watch users in rooms invisibly; off: only operators and admins may. Viewers may always watch
   * cameras.
   */
  viewers_watch: toggle({ default: false }, { card: 'look', order: 4, access: 'person', restarts: 'nothing' }),
  /** Maximum number of entries of the request journal in memory. Reducing the number deletes entries. */
  activity_entries: integer(
    { range: [100, 100_000], unit: 'count', default: 5_000 },
    { card: 'journal', order: 1, access: 'person', restarts: 'nothing' },
  ),
}
