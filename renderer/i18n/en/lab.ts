export const lab = { title: '' } as const
