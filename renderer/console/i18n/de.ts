/** Files of the German texts, but for those that single pages load for themselves. */
export const de = import.meta.glob<Record<string, unknown>>(
  ['../../../texts/de/console/*.json', '!../../../texts/de/console/{discovery,readinessFindings,welcome}.json'],
  { eager: true, import: 'default' },
)
