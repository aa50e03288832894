/** German texts, except for those that single pages load themselves. */
export const de = import.meta.glob<Record<string, unknown>>(
  ['../../../texts/de/console/*.json', '!../../../texts/de/console/{discovery,readinessFindings,welcome}.json'],
  { eager: true, import: 'default' },
)
