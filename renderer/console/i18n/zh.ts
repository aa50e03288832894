import { catalogueOf } from './catalogue.ts'

/** Every Chinese text, but for those that single pages load for themselves. */
export const zh = catalogueOf(
  import.meta.glob<Record<string, unknown>>(
    ['../../../texts/zh/console/*.json', '!**/{discovery,readinessFindings,welcome}.json'],
    { eager: true, import: 'default' },
  ),
)
