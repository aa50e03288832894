/** Chinese texts, except for those that single pages load themselves. */
export const zh = import.meta.glob<Record<string, unknown>>(
  ['../../../texts/zh/console/*.json', '!../../../texts/zh/console/{discovery,readinessFindings,welcome}.json'],
  { eager: true, import: 'default' },
)
