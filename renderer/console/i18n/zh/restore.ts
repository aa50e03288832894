/** Texts of a restore: origin of a backup, and effect on accounts and tokens. */
export const restore = {
  proof: { missing: '来源未证明', wrong: '已被更改或来自其他站点' },
  unproven: {
    missing: '无法证明此备份由本站点创建：它由较早版本或其他程序创建。',
    wrong: '此备份在创建后被更改，或由其他站点创建。',
    here: '请确认其来源后再恢复：它也决定谁可以登录。',
    elsewhere: '只能在本机上恢复：使用桌面应用，或在 http://127.0.0.1 用控制台密钥登录。',
  },
  access: {
    title: '账户和访问令牌',
    gained: '恢复',
    lost: '移除',
    changed: '恢复为当时',
    account: '{name}（{role}）',
    disabled: '{name}（{role}，已停用）',
    token: '{account} 的令牌 {name}（{role}，有效期至 {date}）',
    more: '另有 {n} 项',
  },
} as const
