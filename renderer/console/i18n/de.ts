import { catalogueOf } from './catalogue.ts'

/** Every German text, but for those that single pages load for themselves. */
export const de = catalogueOf(
  import.meta.glob<Record<string, unknown>>(
    ['../../../texts/de/console/*.json', '!**/{discovery,readinessFindings,welcome}.json'],
    { eager: true, import: 'default' },
  ),
)
