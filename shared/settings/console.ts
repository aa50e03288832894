import { firstRunSchema } from '../first-run.ts'
import { languageChoices } from '../languages.ts'
import { choice, integer, structure, toggle } from './setting.ts'

/** The operator's preferences for the console. */
export const consoleSettings = {
  language: choice(
    { choices: languageChoices, default: 'system' },
    { card: 'look', order: 1, access: 'open', restarts: 'nothing' },
  ),
  theme: choice(
    { choices: ['system', 'light', 'dark'], default: 'system' },
    { card: 'look', order: 2, access: 'open', restarts: 'nothing' },
  ),
  /** The welcome page was dismissed. */
  welcome_done: toggle({ default: false }, { card: 'none', order: 0, access: 'open', restarts: 'nothing' }),
  first_run: structure(
    { schema: firstRunSchema, default: firstRunSchema.parse({}), control: 'none' },
    { card: 'none', order: 0, access: 'open', restarts: 'nothing' },
  ),
  /** The console key signs in and calls `/rpc`. Off: only accounts and their tokens, as long as there is an enabled admin. */
  key_sign_in: toggle({ default: true }, { card: 'none', order: 0, access: 'person', restarts: 'nothing' }),
  /** `/metrics` requires an access token. */
  metrics_token: toggle({ default: false }, { card: 'metrics', order: 1, access: 'person', restarts: 'nothing' }),
  /** Lists of devices and rooms show a thumbnail of each camera, one a minute, stored by the browser. */
  thumbnails: toggle({ default: true }, { card: 'look', order: 3, access: 'open', restarts: 'nothing' }),
  /** Viewers may watch users in the rooms unseen. Off: only operators and admins; viewers may always watch cameras. */
  viewers_watch: toggle({ default: false }, { card: 'look', order: 4, access: 'person', restarts: 'nothing' }),
  /** Maximum number of entries of the request journal in memory. Fewer entries delete the journal of requests. */
  activity_entries: integer(
    { range: [100, 100_000], unit: 'count', default: 5_000 },
    { card: 'journal', order: 1, access: 'person', restarts: 'nothing' },
  ),
}
